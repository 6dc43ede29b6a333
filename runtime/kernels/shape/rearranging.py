"""Arrays turned, repeated or put side by side, and channels exchanged for pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...dtypes.promotion import promote, type_name
from ..elementwise.checks import Array, normalize_dim
from ..shape.views import flip, to_copy


def rot90(self: Array, k: int, dims: Sequence[int]) -> Array:
    """A copy turned by right angles, from the first of two dimensions towards the second."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    first, second = (normalize_dim(dim, self.ndim) for dim in dims)
    if first == second:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    turns = k % 4
    if turns == 1:
        return flip(self, second).swapaxes(first, second)
    if turns == 3:
        return flip(self, first).swapaxes(first, second)
    return flip(self, (first, second)) if turns else self.copy()


def block_diag(tensors: Sequence[Array]) -> Array:
    """A matrix of zeros with the given matrices along its diagonal; vectors are rows."""
    for position, tensor in enumerate(tensors):
        if tensor.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{position} has {tensor.ndim} dimensions"
            )
    blocks = [np.atleast_2d(array) for array in promote(*tensors)]
    out = np.zeros_like(
        blocks[0], order="C", shape=np.sum([block.shape for block in blocks], axis=0)
    )
    row = column = 0
    for block in blocks:
        rows, columns = block.shape
        out[row : row + rows, column : column + columns] = block
        row, column = row + rows, column + columns
    return out


def block_diag_backward(self: Array, tensors: Sequence[Array]) -> list[Array]:
    """Views of the matrices along the diagonal, in the shapes and dtypes of what was put there."""
    parts = []
    row = column = 0
    for tensor in tensors:
        rows, columns = (1, 1, *tensor.shape)[-2:]
        part = self[row : row + rows, column : column + columns].reshape(tensor.shape)
        parts.append(part if part.dtype == tensor.dtype else to_copy(part, tensor.dtype))
        row, column = row + rows, column + columns
    return parts


def repeat_index(repeats: Array, length: int | None, output_size: int | None) -> Array:
    """Repeat each position as a list of numbers says; one number counts for `length` of them."""
    if repeats.dtype not in (np.int64, np.int32):
        raise NotImplementedError(
            f"\"repeat_interleave_cpu\" not implemented for '{type_name(repeats.dtype)}'"
        )
    if repeats.ndim > 1 or (length is None and not repeats.ndim):
        raise RuntimeError(f"repeats must be a vector, but it has {repeats.ndim} dimensions")
    counts = repeats.reshape(-1)
    if length is not None and counts.size == 1:
        counts = np.broadcast_to(counts, (length,))
    if length not in (None, counts.size):
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{counts.size} and input.size(0) = {length}"
        )
    if counts.size and counts.min() < 0:
        raise RuntimeError("repeats can not be negative")
    if output_size not in (None, int(counts.sum())):
        raise RuntimeError(
            f"repeat_interleave: Invalid output_size, expected {counts.sum()} but got {output_size}"
        )
    return np.repeat(np.arange(counts.size, dtype=repeats.dtype), counts)


def pixel_shuffle(self: Array, upscale_factor: int) -> Array:
    """(..., C r², H, W) as (..., C, H r, W r): the channels become pixels around each pixel."""
    _check_pixels("pixel_shuffle", self, "an upscale", upscale_factor)
    *batch, channels, height, width = self.shape
    if channels % upscale_factor**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by "
            f"{upscale_factor**2}"
        )
    factors = (upscale_factor, upscale_factor)
    kept = channels // upscale_factor**2
    parts = self.reshape(math.prod(batch), kept, *factors, height, width)
    moved = parts.transpose(0, 1, 4, 2, 5, 3).copy()
    return moved.reshape(*batch, kept, height * upscale_factor, width * upscale_factor)


def pixel_unshuffle(self: Array, downscale_factor: int) -> Array:
    """(..., C, H r, W r) as (..., C r², H, W), which undoes `pixel_shuffle`."""
    _check_pixels("pixel_unshuffle", self, "a downscale", downscale_factor)
    *batch, channels, height, width = self.shape
    for name, length in (("height", height), ("width", width)):
        if length % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"{length} is not divisible by {downscale_factor}"
            )
    sizes = (height // downscale_factor, width // downscale_factor)
    parts = self.reshape(
        math.prod(batch), channels, sizes[0], downscale_factor, sizes[1], downscale_factor
    )
    moved = parts.transpose(0, 1, 3, 5, 2, 4).copy()
    return moved.reshape(*batch, channels * downscale_factor**2, *sizes)


def _check_pixels(name: str, self: Array, kind: str, factor: int) -> None:
    if self.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {self.ndim} "
            "dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects {kind} factor that is positive, but got {factor}")


def channel_shuffle(self: Array, groups: int) -> Array:
    """Channel `j` of group `i` becomes channel `i` of group `j`."""
    _check_channels(self, groups)
    batch, channels, *sizes = self.shape
    parts = self.reshape(batch, groups, channels // groups, *sizes)
    return parts.swapaxes(1, 2).copy().reshape(self.shape)


def channel_unshuffle(self: Array, groups: int) -> Array:
    """The channels as they were before `channel_shuffle`."""
    _check_channels(self, groups)
    batch, channels, *sizes = self.shape
    parts = self.reshape(batch, channels // groups, groups, *sizes)
    return parts.swapaxes(1, 2).copy().reshape(self.shape)


def _check_channels(self: Array, groups: int) -> None:
    if self.ndim < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes "
            f"{list(self.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if self.shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {self.shape[1]} channels and "
            f"{groups} groups."
        )

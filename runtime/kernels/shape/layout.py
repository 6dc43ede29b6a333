"""Parts, copies and diagonals: elements move, and none changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.strides import in_order_of as in_order_of
from ...dtypes.whole_numbers import dim_numbers
from ..elementwise.checks import Array, normalize_dim


def in_order(array: Array) -> Array:
    """Return the array in row-major order: itself if it is."""
    return array if array.flags.c_contiguous else array.copy(order="C")


def split(self: Array, split_size: int, dim: int) -> list[Array]:
    """Views of parts of one length; the last may be shorter, and there is at least one."""
    if not self.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    length = self.shape[normalize_dim(dim, self.ndim)]
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got {split_size}")
    if split_size == 0:
        if length:
            raise RuntimeError(
                "split_size can only be 0 if dimension size is 0, but got dimension size of "
                f"{length}"
            )
        return [self[...]]
    sizes = [min(split_size, length - start) for start in range(0, length, split_size)] or [0]
    return _parts(self, sizes, dim)


def split_with_sizes(self: Array, split_sizes: Sequence[int], dim: int) -> list[Array]:
    """Views of parts of the given lengths."""
    if not self.ndim:
        raise RuntimeError("split_with_sizes expects at least a 1-dimensional tensor")
    length = self.shape[normalize_dim(dim, self.ndim)]
    if min(split_sizes, default=0) < 0 or sum(split_sizes) != length:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {length} (input tensor's size "
            f"at dimension {dim}), but got split_sizes={list(split_sizes)}"
        )
    return _parts(self, split_sizes, dim)


def _parts(self: Array, sizes: Sequence[int], dim: int) -> list[Array]:
    before = (slice(None),) * normalize_dim(dim, self.ndim)
    ends = np.cumsum(sizes, dtype=np.int64).tolist()
    return [self[(*before, slice(end - size, end))] for size, end in zip(sizes, ends, strict=True)]


def diagonal(self: Array, offset: int, dim1: int, dim2: int) -> Array:
    """A view of a diagonal of two dimensions, which becomes the last dimension."""
    dims = _two_dims(self.ndim, dim1, dim2)
    out = self.diagonal(offset, *dims)
    # NumPy hands diagonals out read-only; here a view of what may be written may be written.
    out.flags.writeable = self.flags.writeable
    return out


def _two_dims(ndim: int, dim1: int, dim2: int) -> tuple[int, int]:
    dims = normalize_dim(dim1, ndim), normalize_dim(dim2, ndim)
    if dims[0] == dims[1]:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return dims


def diagonal_backward(
    grad_output: Array, input_sizes: Sequence[int], offset: int, dim1: int, dim2: int
) -> Array:
    """Zeros with `grad_output` on a diagonal."""
    out = np.zeros_like(grad_output, order="C", shape=input_sizes)
    diagonal(out, offset, dim1, dim2)[...] = grad_output
    return out


def diag_embed(self: Array, offset: int, dim1: int, dim2: int) -> Array:
    """Zeros of one more dimension with the last dimension of `self` on a diagonal of two."""
    if not self.ndim:
        raise IndexError("diag_embed() cannot be applied to a 0-dim tensor")
    dims = _two_dims(self.ndim + 1, dim1, dim2)
    length = self.shape[-1] + abs(offset)
    shape = list(self.shape[:-1])
    for dim in sorted(dims):
        shape.insert(dim, length)
    return diagonal_backward(self, shape, offset, *dims)


def trace(self: Array) -> Any:
    """Sum of the diagonal of a matrix; that of integers and bools is int64."""
    if self.ndim != 2:
        raise RuntimeError("trace: expected a matrix")
    return np.add.reduce(self.diagonal(), dtype=np.int64 if self.dtype.kind in "iub" else None)


def trace_backward(self: Array, shape: Sequence[int]) -> Array:
    """A matrix with one number all over its diagonal."""
    return diagonal_backward(self, shape, 0, 0, 1)


def repeat(self: Array, repeats: Sequence[int]) -> Array:
    """Copies laid side by side."""
    if len(repeats) < self.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    if min(repeats, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension: {list(repeats)}")
    return np.tile(self, tuple(repeats))


def repeat_backward(self: Array, shape: Sequence[int], repeats: Sequence[int]) -> Array:
    """The sum of the copies: each dimension is taken apart into copies and places."""
    padded = (*(1,) * (len(repeats) - len(shape)), *shape)
    apart = [part for pair in zip(repeats, padded, strict=True) for part in pair]
    copies = tuple(range(0, len(apart), 2))
    return np.add.reduce(self.reshape(apart), axis=copies, keepdims=True).reshape(shape)


def roll(
    self: Array, shifts: int | Sequence[int], dims: int | Sequence[int] | None, direction: int
) -> Array:
    """Elements moved along dimensions, forwards or backwards (`direction` -1); None is no list."""
    steps = dim_numbers(shifts, "shifts")
    axes = () if dims is None else dim_numbers(dims, "dims")
    if not steps:
        raise RuntimeError("`shifts` required")
    if not axes and len(steps) == 1:
        return np.roll(self, direction * steps[0])
    if len(axes) != len(steps):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(steps)}, dims:{len(axes)}"
        )
    if not self.size:
        return self.copy()  # whatever the dimensions are, as in PyTorch
    if not self.ndim:
        raise IndexError(f"Dimension specified as {axes[0]} but tensor has no dimensions")
    places = tuple(normalize_dim(dim, self.ndim) for dim in axes)
    return np.roll(self, tuple(direction * step for step in steps), places)

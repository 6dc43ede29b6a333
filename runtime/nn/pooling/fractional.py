"""Maxima of windows at pseudo-random places: Graham (2014), arXiv:1412.6071."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...batching.examples import reading_each_example
from ...core.tensor import Tensor, wrap
from ...dispatch.registry import ops
from ...random import rand
from ..module import Module

Ratio = float | Sequence[float]


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: Ratio | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Take the maxima of `output_size` windows of (N, C, H, W), or of a ratio of its size.

    Where the windows lie is drawn, or given as `_random_samples` (N, C, 2) between 0 and 1. With
    `return_indices` also the positions in each flattened plane. ValueError without a size.
    """
    both = fractional_max_pool2d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
    return both if return_indices else both[0]


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: Ratio | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Apply `fractional_max_pool2d`; return also the positions."""
    return _pooled(2, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: Ratio | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Take the maxima of windows of (N, C, T, H, W): see `fractional_max_pool2d`."""
    both = fractional_max_pool3d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
    return both if return_indices else both[0]


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: Ratio | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Apply `fractional_max_pool3d`; return also the positions."""
    return _pooled(3, input, kernel_size, output_size, output_ratio, _random_samples)


def _pooled(
    spatial: int,
    input: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None,
    output_ratio: Ratio | None,
    samples: Tensor | None,
) -> tuple[Tensor, Tensor]:
    name = f"fractional_max_pool{spatial}d"
    if input.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"{name}(): Expected {spatial + 1}D or {spatial + 2}D tensor, but got {input.ndim}D"
        )
    sizes = input.shape[-spatial:]
    if output_size is None:
        if output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        ratios = output_ratio if isinstance(output_ratio, Sequence) else [output_ratio] * spatial
        if len(ratios) != spatial:
            raise ValueError(
                f"{name} requires output_ratio to either be a single number or {spatial}, but got "
                f"{output_ratio}"
            )
        output_size = [int(size * ratio) for size, ratio in zip(sizes, ratios, strict=True)]
    kernel = _each(kernel_size, spatial, f"{name}: kernel_size")
    wanted = _each(output_size, spatial, f"{name}: output_size")
    if 0 in input.shape[1:]:
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but got "
            f"{list(input.shape)}"
        )
    if min(kernel) <= 0 or min(wanted) < 0:
        raise RuntimeError(
            f"{name}(): a kernel_size {kernel} is not positive, or an output_size {wanted} negative"
        )
    for axis, size, length, count in zip(
        ("time", "height", "width")[-spatial:], sizes, kernel, wanted, strict=True
    ):
        if count + length - 1 > size:
            raise RuntimeError(
                f"{name}(): pool {axis} {length} too large relative to input {axis} {size}, for "
                f"{count} windows"
            )
    batch = 1 if input.ndim == spatial + 1 else input.shape[0]
    channels = input.shape[-spatial - 1]
    if samples is None:
        samples = rand(batch, channels, spatial, dtype=input.dtype)
    _check_samples(input, samples, (batch, channels, spatial))
    return _maxima(input, samples, kernel, wanted)


@reading_each_example
def _maxima(
    input: Tensor, samples: Tensor, kernel: list[int], wanted: list[int]
) -> tuple[Tensor, Tensor]:
    """The largest elements of windows that lie where samples say, and where those are."""
    spatial = len(wanted)
    sizes = input.shape[-spatial:]
    batch = 1 if input.ndim == spatial + 1 else input.shape[0]
    channels = input.shape[-spatial - 1]
    drawn = samples.detach().numpy()[:batch]
    places = _places(input.detach().numpy(), kernel, wanted, drawn)
    planes = input.reshape(batch * channels, math.prod(sizes))
    places = places.reshape(batch * channels, math.prod(wanted))
    found = ops.gather(planes, 1, wrap(places))
    shape = (*input.shape[:-spatial], *wanted)
    return found.reshape(shape), wrap(places.reshape(shape))


def _check_samples(input: Tensor, samples: Tensor, expected: Sequence[int]) -> None:
    """Raise RuntimeError unless there are samples of the input's dtype for each of its images."""
    if samples.dtype != input.dtype:
        raise RuntimeError(
            f"Expect _random_samples to have the same dtype as input, {input.dtype}, but got "
            f"{samples.dtype}"
        )
    shape = samples.shape
    if len(shape) != 3 or shape[0] < expected[0] or tuple(shape[1:]) != tuple(expected[1:]):
        raise RuntimeError(
            f"Expect _random_samples of shape {list(expected)}, or of a larger batch, but got "
            f"{list(shape)}"
        )


def _places(array: Any, kernel: Sequence[int], wanted: Sequence[int], drawn: Any) -> Any:
    """The position of each maximum in its flattened plane; nan is larger than any number."""
    spatial = len(kernel)
    sizes = array.shape[-spatial:]
    planes = array.reshape(len(drawn) * drawn.shape[1], math.prod(sizes))
    # As in PyTorch, the samples of images name the last dimension first, and of volumes last.
    samples = drawn.reshape(len(planes), spatial)[:, :: -1 if spatial == 2 else 1]
    starts = [
        _starts(samples[:, dim], size, length, count)
        for dim, (size, length, count) in enumerate(zip(sizes, kernel, wanted, strict=True))
    ]
    flat = np.zeros((len(planes), *([1] * 2 * spatial)), np.int64)
    for dim, (size, length) in enumerate(zip(sizes, kernel, strict=True)):
        line = starts[dim][:, :, None] + np.arange(length)  # plane, window, place in the window
        shape = [len(planes), *([1] * 2 * spatial)]
        shape[1 + dim], shape[1 + spatial + dim] = line.shape[1:]
        flat = flat * size + line.reshape(shape)
    flat = flat.reshape(len(planes), math.prod(wanted), math.prod(kernel))
    best = np.take_along_axis(planes[:, None], flat, 2).argmax(-1)
    return np.take_along_axis(flat, best[..., None], -1)[..., 0]


def _starts(samples: Any, size: int, length: int, count: int) -> Any:
    """The first element of each window: steps of a fixed ratio, from a drawn phase on."""
    last = np.full((len(samples), 1), size - length)
    if count <= 1:
        return last[:, :count]
    alpha = samples.dtype.type(size - length) / samples.dtype.type(count - 1)
    steps = np.arange(count - 1).astype(samples.dtype)
    phase = (samples * alpha).astype(np.int64)
    others = ((steps + samples[:, None]) * alpha).astype(np.int64) - phase[:, None]
    return np.concatenate([others, last], 1)


def _each(value: Any, count: int, name: str) -> list[Any]:
    values = list(value) if isinstance(value, list | tuple) else [value] * count
    if len(values) != count:
        raise RuntimeError(f"{name} must either be a single number or {count}, but got {value}")
    return values


class _FractionalMaxPool(Module):
    """Base of pools: their sizes, and the samples that place their windows."""

    spatial: int

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        output_size: int | Sequence[int] | None = None,
        output_ratio: Ratio | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{name} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        self.kernel_size = self._in_each_dim(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = self._in_each_dim(output_size)
        self.output_ratio = self._in_each_dim(output_ratio)
        if self.output_ratio is not None and not all(0 < each < 1 for each in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def _in_each_dim(self, value: Any) -> Any:
        if value is None:
            return None
        return tuple(value) if isinstance(value, Sequence) else (value,) * self.spatial

    def forward(self, input: Tensor) -> Any:
        """Take the maxima of windows; with `return_indices` also their positions."""
        pool = fractional_max_pool2d if self.spatial == 2 else fractional_max_pool3d
        return pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """Maxima of windows of images at drawn places."""

    spatial = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """Maxima of windows of volumes at drawn places."""

    spatial = 3

"""Functions of windows whose results, or their sizes, depend on further arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...generated import layout, pooling
from ..composed import max_pool1d, max_pool2d, max_pool3d

Sizes = int | Sequence[int]

# ---- patches


def unfold(
    input: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
) -> Tensor:
    """Return the patches of (N, C, H, W) as columns, of shape (N, C times kernel, positions)."""
    return layout._im2col(input, kernel_size, dilation, padding, stride)


def fold(
    input: Tensor,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Tensor:
    """Add up columns of patches to images of shape (N, C, *output_size)."""
    return layout._col2im(input, output_size, kernel_size, dilation, padding, stride)


# ---- maxima


def adaptive_max_pool1d(
    input: Tensor, output_size: int | Sequence[int], return_indices: bool = False
) -> Any:
    """Take the maxima of `output_size` windows; with `return_indices` also their indices."""
    size = _wanted(input, output_size, 1)
    values, places = pooling._adaptive_max_pool2d(input.unsqueeze(-2), (1, *size))
    return (values.squeeze(-2), places.squeeze(-2)) if return_indices else values.squeeze(-2)


def adaptive_max_pool2d(
    input: Tensor, output_size: int | Sequence[int | None], return_indices: bool = False
) -> Any:
    """Take the maxima of `output_size` windows; with `return_indices` also their indices."""
    both = pooling._adaptive_max_pool2d(input, _wanted(input, output_size, 2))
    return both if return_indices else both[0]


def adaptive_max_pool3d(
    input: Tensor, output_size: int | Sequence[int | None], return_indices: bool = False
) -> Any:
    """Take the maxima of `output_size` windows; with `return_indices` also their indices."""
    both = pooling._adaptive_max_pool3d(input, _wanted(input, output_size, 3))
    return both if return_indices else both[0]


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: int | Sequence[int], return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Take the maxima of `output_size` windows; return also their indices."""
    both: tuple[Tensor, Tensor] = adaptive_max_pool1d(input, output_size, True)
    return both


def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: int | Sequence[int | None], return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Take the maxima of `output_size` windows; return also their indices."""
    both: tuple[Tensor, Tensor] = adaptive_max_pool2d(input, output_size, True)
    return both


def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: int | Sequence[int | None], return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Take the maxima of `output_size` windows; return also their indices."""
    both: tuple[Tensor, Tensor] = adaptive_max_pool3d(input, output_size, True)
    return both


def _wanted(
    input: Tensor, output_size: int | Sequence[int | None] | None, spatial: int
) -> list[int]:
    """Return the number of windows in each dimension; None means one for each element."""
    wanted = output_size if isinstance(output_size, Sequence) else (output_size,) * spatial
    if isinstance(output_size, Sequence) and input.ndim <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    if input.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"adaptive_max_pool{spatial}d(): Expected {spatial + 1}D or {spatial + 2}D tensor, but "
            f"got: {list(input.shape)}"
        )
    if len(wanted) != spatial:
        raise RuntimeError(f"adaptive_max_pool{spatial}d(): output_size must be {spatial} numbers")
    sizes = input.shape[-spatial:]
    return [size if count is None else count for count, size in zip(wanted, sizes, strict=True)]


# ---- maxima back at their places


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Put the maxima of `max_pool1d` at their indices; zeros elsewhere."""
    (length,) = _unpooled(input, kernel_size, stride, padding, output_size, 1)
    lines = pooling._max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), (length, 1))
    return lines.squeeze(-1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Put the maxima of `max_pool2d` at their indices; zeros elsewhere."""
    sizes = _unpooled(input, kernel_size, stride, padding, output_size, 2)
    return pooling._max_unpool2d(input, indices, sizes)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Put the maxima of `max_pool3d` at their indices; zeros elsewhere."""
    sizes = _unpooled(input, kernel_size, stride, padding, output_size, 3)
    return pooling._max_unpool3d(input, indices, sizes)


def _unpooled(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    output_size: Sequence[int] | None,
    spatial: int,
) -> list[int]:
    """Return the sizes before a pooling: those given, or the smallest possible ones."""
    if input.ndim <= spatial:
        raise RuntimeError(
            f"max_unpool{spatial}d: Expected a {spatial + 1}D or {spatial + 2}D input, but got "
            f"{list(input.shape)}"
        )
    kernel = _each(kernel_size, spatial, "kernel_size")
    steps = kernel if stride is None else _each(stride, spatial, "stride")
    pads = _each(padding, spatial, "padding")
    if spatial == 3 and min(steps) <= 0:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {steps}")
    smallest = [
        (count - 1) * step + length - 2 * pad
        for count, step, length, pad in zip(
            input.shape[-spatial:], steps, kernel, pads, strict=True
        )
    ]
    if output_size is None:
        return smallest
    if len(output_size) not in (spatial, spatial + 2):
        raise ValueError(
            f"output_size should be a sequence containing {spatial} or {spatial + 2} elements, but "
            f"it has a length of '{len(output_size)}'"
        )
    sizes = list(output_size)[-spatial:]
    for dim, (size, least, step) in enumerate(zip(sizes, smallest, steps, strict=True)):
        if not least - step < size < least + step:
            raise ValueError(
                f'invalid output_size "{sizes}" (dim {dim} must be between {least - step} and '
                f"{least + step})"
            )
    return sizes


def _each(value: Sizes, spatial: int, name: str) -> list[int]:
    values = [value] * spatial if isinstance(value, int) else list(value)
    if len(values) != spatial:
        raise RuntimeError(
            f"There should be exactly {spatial} elements in {name}, but got {len(values)} elements"
        )
    return values


# ---- norms


def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: int,
    stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Take the p-norm of each window of one dimension."""
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, 1)


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Take the p-norm of each window of two dimensions."""
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, 2)


def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Take the p-norm of each window of three dimensions."""
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, 3)


def _lp_pool(
    input: Tensor,
    norm_type: float,
    kernel_size: Sizes,
    stride: Sizes | None,
    ceil_mode: bool,
    spatial: int,
) -> Tensor:
    """Take p-norms without absolute values: for odd powers negative sums have negative roots."""
    if math.isinf(norm_type):
        largest = (max_pool1d, max_pool2d, max_pool3d)[spatial - 1]
        size = input.abs() if norm_type > 0 else -input.abs()
        found: Tensor = largest(size, kernel_size, stride, 0, 1, ceil_mode)
        return found if norm_type > 0 else -found
    mean = (pooling.avg_pool1d, pooling.avg_pool2d, pooling.avg_pool3d)[spatial - 1]
    out = mean(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    count = math.prod(_each(kernel_size, spatial, "kernel_size"))
    return (out.sign() * out.abs().relu() * count).pow(1 / norm_type)

"""Parts of dimensions read, and written into copies: slices, windows, diagonals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..elementwise.checks import ArgumentError, Array, normalize_dim
from ..shape.layout import diagonal


def select(self: Array, dim: int, index: int) -> Array:
    """A view of one slice of a dimension, which disappears."""
    return self[_slice_at(self.shape, dim, index)]


def select_backward(grad_output: Array, input_sizes: Sequence[int], dim: int, index: int) -> Array:
    """Zeros with `grad_output` in one slice of a dimension."""
    out = np.zeros_like(grad_output, order="C", shape=input_sizes)
    out[_slice_at(input_sizes, dim, index)] = grad_output
    return out


def _slice_at(shape: Sequence[int], dim: int, index: int) -> tuple[Any, ...]:
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = normalize_dim(dim, len(shape))
    if not -shape[dim] <= index < shape[dim]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(shape)} at dimension "
            f"{dim}"
        )
    return (*(slice(None),) * dim, index, ...)


def slice_view(
    self: Array, dim: int, start: int | None, end: int | None, step: int, exact: bool
) -> Array:
    """A view of some of the slices of a dimension; if `exact`, all of them must exist."""
    if exact:
        _all_exist(self.shape, dim, start or 0, end or 0)
    if dim == 0 and step == 1 and self.ndim:
        return self[start:end]
    return self[_slices(self.ndim, dim, start, end, step)]


def _all_exist(shape: Sequence[int], dim: int, start: int, end: int) -> None:
    length = shape[normalize_dim(dim, len(shape))] if shape else 0
    if not 0 <= start <= length:
        raise IndexError(
            f"start out of range (expected to be in range of [{-length}, {length}], but got "
            f"{start})"
        )
    if end < start:
        raise RuntimeError("narrow(): length must be non-negative.")
    if end > length:
        raise RuntimeError(
            f"start ({start}) + length ({end - start}) exceeds dimension size ({length})."
        )


def slice_backward(
    grad_output: Array,
    input_sizes: Sequence[int],
    dim: int,
    start: int | None,
    end: int | None,
    step: int,
) -> Array:
    """Zeros with `grad_output` in some of the slices of a dimension."""
    out = np.zeros(input_sizes, grad_output.dtype)
    if dim == 0 and step == 1 and input_sizes:
        out[start:end] = grad_output
    else:
        out[_slices(len(input_sizes), dim, start, end, step)] = grad_output
    return out


def _slices(
    ndim: int, dim: int, start: int | None, end: int | None, step: int
) -> tuple[slice, ...]:
    if not ndim:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    return (*(slice(None),) * normalize_dim(dim, ndim), slice(start, end, step))


def select_scatter(self: Array, src: Array, dim: int, index: int) -> Array:
    """A copy with `src` in one slice of a dimension."""
    out = self.copy()
    _replace(select(out, dim, index), src)
    return out


def slice_scatter(
    self: Array, src: Array, dim: int, start: int | None, end: int | None, step: int
) -> Array:
    """A copy with `src` in some of the slices of a dimension."""
    if not self.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    out = self.copy()
    _replace(slice_view(out, dim, start, end, step, False), src)
    return out


def diagonal_scatter(self: Array, src: Array, offset: int, dim1: int, dim2: int) -> Array:
    """A copy with `src` on a diagonal of two dimensions."""
    out = self.copy()
    _replace(diagonal(out, offset, dim1, dim2), src)
    return out


def _replace(part: Array, src: Array) -> None:
    if src.shape != part.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(part.shape)}"
        )
    part[...] = src


def narrow_copy(self: Array, dim: int, start: int, length: int) -> Array:
    """A copy of neighbouring slices of a dimension."""
    if start < 0 and self.ndim:
        start += self.shape[normalize_dim(dim, self.ndim)]
    return slice_view(self, dim, start, start + length, 1, True).copy()


def unfold(self: Array, dimension: int, size: int, step: int) -> Array:
    """A view of all windows of a dimension, each along a new last dimension."""
    dim = normalize_dim(dimension, self.ndim)
    length = self.shape[dim] if self.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(
            f"unfold: maximum size for tensor at dimension {dim} is {length} but size is {size}"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not self.ndim:
        return self.reshape(1)[:size]
    count = (length - size) // step + 1
    stride = self.strides[dim]
    shape = (*self.shape[:dim], count, *self.shape[dim + 1 :], size)
    strides = (*self.strides[:dim], step * stride, *self.strides[dim + 1 :], stride)
    return as_strided(self, shape, strides, subok=True)


def unfold_backward(
    self: Array, input_sizes: Sequence[int], dim: int, size: int, step: int
) -> Array:
    """Zeros with windows added where they were taken from: one place of all windows at a time."""
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if step <= 0:
        raise ArgumentError(f"step is {step} but must be > 0")
    dim = normalize_dim(dim, len(input_sizes))
    windows = [*input_sizes, size]
    if input_sizes:
        windows[dim] = (input_sizes[dim] - size) // step + 1
    if list(self.shape) != windows:
        raise RuntimeError(
            f"unfold_backward: expected windows of shape {windows}, but got {list(self.shape)}"
        )
    out = np.zeros_like(self, order="C", shape=input_sizes)
    if not input_sizes:
        return out + self.sum()
    before = (slice(None),) * dim
    for place in range(size):
        reach = place + step * (self.shape[dim] - 1) + 1
        out[(*before, slice(place, reach, step))] += self[..., place]
    return out

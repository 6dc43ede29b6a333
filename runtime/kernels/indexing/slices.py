"""Copies of arrays with one part replaced, and parts that overlap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..elementwise.checks import Array, normalize_dim
from ..shape.layout import diagonal
from .index import select, slice_view


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
    if not 0 <= size <= length:
        raise RuntimeError(
            f"unfold: the size of a window must lie between 0 and the length {length} of dimension "
            f"{dim}, but it is {size}"
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
    out = np.zeros_like(self, order="C", shape=input_sizes)
    if not input_sizes:
        return out + self.sum()
    dim = normalize_dim(dim, len(input_sizes))
    before = (slice(None),) * dim
    for place in range(size):
        reach = place + step * (self.shape[dim] - 1) + 1
        out[(*before, slice(place, reach, step))] += self[..., place]
    return out

"""Sums and other reductions, and the ways back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .checks import Array, normalize_dim

Dims = int | Sequence[int] | None

_add_reduce = np.add.reduce


def axes(dim: Dims) -> int | tuple[int, ...] | None:
    """NumPy's `axis` for PyTorch's `dim`, where an empty list means all dimensions."""
    if dim is None or type(dim) is int:
        return dim
    return tuple(dim) or None if isinstance(dim, list | tuple) else int(dim)  # type: ignore[call-overload]


def sum(self: Array, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    """Sums of integers and bools are int64."""
    if dtype is None and self.dtype.kind in "iub":
        dtype = np.int64
    return _add_reduce(self, axes(dim), dtype, None, keepdim)


def unreduce(self: Array, shape: Sequence[int], dim: Dims, keepdim: bool) -> Array:
    """Repeat a reduced array over the dimensions that were reduced."""
    if not keepdim and self.ndim:
        self = self.reshape(_kept_shape(shape, dim))
    out = np.empty_like(self, shape=shape)
    out[...] = self
    return out


def _kept_shape(shape: Sequence[int], dim: Dims) -> list[int]:
    """The shape that a reduction with `keepdim` leaves."""
    dims = axes(dim)
    reduced = range(len(shape)) if dims is None else (dims,) if isinstance(dims, int) else dims
    kept = list(shape)
    for each in reduced:
        kept[each] = 1
    return kept


def max_with_indices(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The largest elements along a dimension and their positions; the first NaN wins."""
    return _pick(self, np.argmax, dim, keepdim)


def min_with_indices(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The smallest elements along a dimension and their positions; the first NaN wins."""
    return _pick(self, np.argmin, dim, keepdim)


def _pick(self: Array, position: Any, dim: int, keepdim: bool) -> tuple[Array, Array]:
    dim = normalize_dim(dim, self.ndim)
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    indices = position(self, dim, keepdims=True)
    values = np.take_along_axis(self, indices, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def take_along_dim(self: Array, dim: int, indices: Array, keepdim: bool) -> Array:
    """The elements at the positions that `_pick` found."""
    if not self.ndim:
        return self.copy()
    if keepdim:
        return np.take_along_axis(self, indices, dim)
    return np.take_along_axis(self, np.expand_dims(indices, dim), dim).squeeze(dim)


def put_along_dim(
    self: Array, shape: Sequence[int], dim: int, indices: Array, keepdim: bool
) -> Array:
    """Zeros with `self` at the positions that `_pick` found."""
    if not shape:
        return self.copy()
    if not keepdim:
        self, indices = np.expand_dims(self, dim), np.expand_dims(indices, dim)
    out = np.zeros_like(self, shape=shape)
    np.put_along_axis(out, indices, self, dim)
    return out

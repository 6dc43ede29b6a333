"""Whole slices of a dimension written, or added, at a list of positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.number_conversion import converted
from ...core.type_promotion import type_name
from ..elementwise.checks import Array, normalize_dim
from ..shape.layout import in_order
from .adding import add_rows
from .scatter_reductions import scatter_reduce


def index_add(self: Array, dim: int, index: Array, source: Array, alpha: Any) -> Array:
    """A copy with the slices of `source`, times a number, added at a list of positions."""
    dim, positions = _positions("index_add_", self, dim, index, from_end=False)
    _check_source("index_add_", self, dim, positions, source)
    slices = np.atleast_1d(source)
    if alpha != 1:
        slices = slices * (bool(alpha) if self.dtype.kind == "b" else converted(alpha, self.dtype))
    table = np.array(np.atleast_1d(self).swapaxes(0, dim), order="C", subok=True)
    add_rows(table, positions, slices.swapaxes(0, dim))
    return in_order(table.swapaxes(0, dim)).reshape(self.shape)


def index_reduce(
    self: Array, dim: int, index: Array, source: Array, reduce: str, include_self: bool
) -> Array:
    """A copy where the slices that meet at one position are reduced to one."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    if self.dtype.kind == "b":
        raise NotImplementedError("index_reduce() is not implemented for bools")
    dim, positions = _positions("index_reduce_", self, dim, index, from_end=False)
    _check_source("index_reduce_", self, dim, positions, source)
    places = index_along(source, dim, positions)
    return scatter_reduce(self, dim, places, source, reduce, include_self)


def index_along(self: Array, dim: int, index: Array) -> Array:
    """For every element the position that a list of positions has for its slice."""
    if not self.ndim:
        return index.reshape(())
    dim = normalize_dim(dim, self.ndim)
    return np.broadcast_to(index.reshape(-1, *(1,) * (self.ndim - dim - 1)), self.shape)


def _check_source(name: str, self: Array, dim: int, positions: Array, source: Array) -> None:
    if source.dtype != self.dtype:
        raise RuntimeError(
            f"{name}(): self ({type_name(self.dtype)}) and source ({type_name(source.dtype)}) must "
            "have the same scalar type"
        )
    expected = _shape_of_slices(self, dim, positions)
    if source.ndim != self.ndim or np.atleast_1d(source).shape != expected:
        raise RuntimeError(
            f"{name}(): source of shape {list(source.shape)} does not have {positions.size} "
            f"slices, at dimension {dim}, of a tensor of shape {list(self.shape)}"
        )


def index_copy(self: Array, dim: int, index: Array, source: Array) -> Array:
    """A copy with the slices of `source` at a list of positions."""
    dim, positions = _positions("index_copy_", self, dim, index, from_end=False)
    if index.dtype != np.int64:
        raise RuntimeError(
            f"index_copy_(): Expected a long tensor for index, but got {type_name(index.dtype)}"
        )
    if source.dtype != self.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{type_name(self.dtype)} and (source) {type_name(source.dtype)}"
        )
    slices = np.atleast_1d(source)
    expected = _shape_of_slices(self, dim, positions)
    if slices.shape != expected:
        fits_but_for_slices = slices.ndim == len(expected) and slices.shape[dim] == expected[dim]
        kind = RuntimeError if fits_but_for_slices else IndexError
        raise kind(
            f"index_copy_(): source of shape {list(source.shape)} does not have {positions.size} "
            f"slices, at dimension {dim}, of a tensor of shape {list(self.shape)}"
        )
    return _written(self, dim, positions, slices)


def index_fill(self: Array, dim: int, index: Array, value: Any) -> Array:
    """A copy with one value in the slices at a list of positions."""
    if np.ndim(value):
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{np.ndim(value)} dimension(s)."
        )
    if self.dtype.kind in "biuf" and np.iscomplexobj(value):
        raise RuntimeError("index_fill_(): a complex number does not fit into a real tensor")
    if index.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    dim, positions = _positions("index_fill_", self, dim, index, from_end=True)
    value = np.asanyarray(converted(value, self.dtype))
    return _written(self, dim, positions, value.astype(self.dtype))


def index_keep(self: Array, dim: int, index: Array) -> Array:
    """A copy with zeros outside of the slices at a list of positions."""
    dim, positions = _positions("index_fill_", self, dim, index, from_end=True)
    before: tuple[Any, ...] = (slice(None),) * dim
    out = np.zeros_like(np.atleast_1d(self))
    out[(*before, positions)] = np.atleast_1d(self)[(*before, positions)]
    return out.reshape(self.shape)


def _written(self: Array, dim: int, positions: Array, values: Array) -> Array:
    before: tuple[Any, ...] = (slice(None),) * dim
    out = np.atleast_1d(self.copy())
    out[(*before, positions)] = values
    return out.reshape(self.shape)


def _shape_of_slices(self: Array, dim: int, positions: Array) -> tuple[int, ...]:
    shape = self.shape or (1,)
    return (*shape[:dim], positions.size, *shape[dim + 1 :])


def _positions(
    name: str, self: Array, dim: int, index: Array, *, from_end: bool
) -> tuple[int, Array]:
    """The dimension, counted from the front, and the list of positions."""
    dim = normalize_dim(dim, self.ndim)
    if index.dtype.kind not in "iu":
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index but got: {type_name(index.dtype)}"
        )
    if index.ndim > 1:
        kind = RuntimeError if from_end else IndexError
        raise kind(f"{name}(): Index is supposed to be a vector, but got {index.ndim} dimensions")
    length = self.shape[dim] if self.ndim else 1
    if index.size and not (-length if from_end else 0) <= index.min() <= index.max() < length:
        raise IndexError(f"{name}(): index out of range for dimension {dim} with size {length}")
    return dim, index.reshape(-1)

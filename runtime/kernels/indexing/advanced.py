"""Elements and slices at lists of positions, as in `x[index]` and `index_select`.

What an index picks lies in memory in the order of the array it picks from, as in PyTorch. NumPy
puts the dimensions that were indexed first in memory wherever they stand, so that
`x[:, [0, 1]].view(-1)` would be refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.strides import outermost_first
from ...dtypes.number_conversion import converted
from ...dtypes.promotion import type_name
from ..elementwise.checks import Array, normalize_dim
from ..shape.layout import in_order
from .gather_scatter import add_at_key, add_rows, fitted, scatter_reduce


def laid_out(found: Array, self: Array, indices: Sequence[Array | None]) -> Array:
    """Return `found`, which `indices` picked from `self`, with the order of strides of `self`."""
    if self.flags.c_contiguous:
        return in_order(found)
    order = outermost_first(_strides(self, indices, found.ndim))
    turned = found.transpose(order)
    if turned.flags.c_contiguous:
        return found
    back: Array = turned.copy(order="C").transpose(np.argsort(order))
    return back


def _strides(self: Array, indices: Sequence[Array | None], ndim: int) -> list[int]:
    """Return the strides in `self` of each dimension of the result; 0 for those of an index."""
    kept: list[int] = []
    starts: list[int] = []
    """For each index the number of dimensions before it that are kept."""
    dim = 0
    for index in indices:
        if index is None:
            kept.append(self.strides[dim])
            dim += 1
        else:
            starts.append(len(kept))
            dim += index.ndim if index.dtype.kind == "b" or index.dtype == np.uint8 else 1
    kept += self.strides[dim:]
    first = starts[0] if len(set(starts)) == 1 else 0
    return [*kept[:first], *[0] * (ndim - len(kept)), *kept[first:]]


def index(self: Array, indices: Sequence[Array | None]) -> Any:
    """Elements at integer positions, or where masks are true."""
    if not indices:
        raise IndexError("at least one index must be provided")
    return laid_out(self[_key(indices, self.ndim)], self, indices)


def index_backward(self: Array, shape: Sequence[int], indices: Sequence[Array | None]) -> Array:
    """Zeros with `self` added at the places that an index picked."""
    return _zeros_with(self, shape, _key(indices, len(shape)))


def _zeros_with(values: Array, shape: Sequence[int], key: tuple[Any, ...]) -> Array:
    """Zeros with values added at the places that a key picks; one list is the most usual."""
    lists = [dim for dim, each in enumerate(key) if isinstance(each, np.ndarray)]
    if len(lists) != 1 or key[lists[0]].dtype.kind == "b":
        out = np.zeros_like(values, order="C", shape=shape)
        add_at_key(out, key, values)
        return out
    dim = lists[0]
    numbers = key[dim].reshape(-1)
    rows = values.reshape(*shape[:dim], numbers.size, *shape[dim + 1 :]).swapaxes(0, dim)
    table = np.zeros_like(values, order="C", shape=(shape[dim], *rows.shape[1:]))
    add_rows(table, numbers, rows)
    return in_order(table.swapaxes(0, dim))


def index_put(self: Array, indices: Sequence[Array | None], values: Any, accumulate: bool) -> Array:
    """A copy with an array or a number at the places that an index picks, or added there."""
    if isinstance(values, np.ndarray) and values.dtype != self.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{type_name(self.dtype)} for the destination and {type_name(values.dtype)} for the "
            "source."
        )
    out = self.copy()
    key = _key(indices, self.ndim)
    if accumulate:
        add_at_key(out, key, values)
    else:
        out[key] = fitted(values, out, key)
    return out


def _key(indices: Sequence[Array | None], ndim: int) -> tuple[Any, ...]:
    if len(indices) > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim} (got {len(indices)})")
    return tuple(slice(None) if each is None else index_array(each) for each in indices)


def index_array(index: Array) -> Array:
    """One array of an index: positions, or a mask, which may be of uint8 as in PyTorch of old."""
    if index.dtype == np.uint8:
        return index.astype(np.bool_)
    if index.dtype.kind != "b" and index.dtype not in (np.int64, np.int32):
        raise IndexError(
            "tensors used as indices must be long, int, byte or bool tensors, not "
            f"{type_name(index.dtype)}"
        )
    return index


def index_select(self: Array, dim: int, index: Array) -> Any:
    """Slices of a dimension in the order of a list of positions."""
    if index.dtype.kind not in "iu":
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if index.size and self.ndim and not self.shape[normalize_dim(dim, self.ndim)]:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    *before, positions = _positions(self.shape, dim, index)
    found = np.take(np.atleast_1d(self), positions, len(before))
    return found if self.ndim else found.reshape(())


def index_select_backward(self: Array, shape: Sequence[int], dim: int, index: Array) -> Array:
    """Zeros with the slices of `self` added at a list of positions."""
    slices = self.reshape(_selected_shape(shape, dim, index))
    return _zeros_with(slices, shape or (1,), _positions(shape, dim, index)).reshape(shape)


def _selected_shape(shape: Sequence[int], dim: int, index: Array) -> tuple[int, ...]:
    sizes = list(shape) or [1]
    sizes[dim] = index.size
    return tuple(sizes)


def _positions(shape: Sequence[int], dim: int, index: Array) -> tuple[Any, ...]:
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    dim = normalize_dim(dim, len(shape))
    length = shape[dim] if shape else 1
    if index.size and not (index.min() >= 0 and index.max() < length):
        raise IndexError("index out of range in self")
    return (*(slice(None),) * dim, index.reshape(-1))


def index_add(self: Array, dim: int, index: Array, source: Array, alpha: Any) -> Array:
    """A copy with the slices of `source`, times a number, added at a list of positions."""
    dim, positions = _written_positions("index_add_", self, dim, index, from_end=False)
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
    dim, positions = _written_positions("index_reduce_", self, dim, index, from_end=False)
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
    dim, positions = _written_positions("index_copy_", self, dim, index, from_end=False)
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
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    if index.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    dim, positions = _written_positions("index_fill_", self, dim, index, from_end=True)
    value = np.asanyarray(converted(value, self.dtype))
    return _written(self, dim, positions, value.astype(self.dtype))


def index_keep(self: Array, dim: int, index: Array) -> Array:
    """A copy with zeros outside of the slices at a list of positions."""
    dim, positions = _written_positions("index_fill_", self, dim, index, from_end=True)
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


def _written_positions(
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

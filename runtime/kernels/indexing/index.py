"""Parts of arrays by position, and zeros around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.number_conversion import converted
from ...core.type_promotion import type_name
from ..elementwise.checks import Array, normalize_dim
from ..elementwise.masking import where
from ..shape.layout import in_order
from .adding import add_rows
from .gathering import laid_out


def masked_fill(self: Array, mask: Array, value: Any) -> Array:
    """A copy with one value wherever the mask is true."""
    if mask.dtype.kind != "b":
        raise RuntimeError(
            f"masked_fill only supports boolean masks, but got mask with dtype {mask.dtype}"
        )
    if isinstance(value, np.ndarray) and value.ndim:
        raise RuntimeError(
            "masked_fill only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    value = np.asanyarray(converted(value, self.dtype))
    return where(mask, value.astype(self.dtype), self)


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


def index(self: Array, indices: Sequence[Array | None]) -> Any:
    """Elements at integer positions, or where masks are true."""
    return laid_out(self[_key(indices, self.ndim)], self, indices)


def index_backward(self: Array, shape: Sequence[int], indices: Sequence[Array | None]) -> Array:
    """Zeros with `self` added at the places that an index picked."""
    return _zeros_with(self, shape, _key(indices, len(shape)))


def _zeros_with(values: Array, shape: Sequence[int], key: tuple[Any, ...]) -> Array:
    """Zeros with values added at the places that a key picks; one list is the most usual."""
    lists = [dim for dim, each in enumerate(key) if isinstance(each, np.ndarray)]
    if len(lists) != 1 or key[lists[0]].dtype.kind == "b":
        out = np.zeros_like(values, order="C", shape=shape)
        np.add.at(out, key, values)
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
        np.add.at(out, key, values)
    else:
        out[key] = values
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

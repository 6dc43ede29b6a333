"""Elements gathered from, and written or added to, positions along a dimension.

`np.add.at` is fast where it is given one list of positions in a flat array, and takes 10 ns an
element elsewhere.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...dtypes.kinds import DIFFERENTIABLE_KINDS, is_symbolic
from ...dtypes.number_conversion import converted
from ...dtypes.promotion import type_name
from ...fast.tuning import ADD_ROW_MIN
from ..elementwise.checks import Array, normalize_dim


def add_at(out: Array, places: tuple[Any, ...], values: Array) -> None:
    """`np.add.at(out, places, values)` for positions in every dimension, none of them negative."""
    if not _is_flat(out):
        np.add.at(out, places, values)
        return
    flat: Any = 0
    for position, stride in zip(places, out.strides, strict=True):
        flat = flat + np.asarray(position, np.intp) * (stride // out.itemsize)
    np.add.at(reshaped_view(out, -1), flat.reshape(-1), values.reshape(-1))


def add_at_key(out: Array, key: Any, values: Any) -> None:
    """`np.add.at(out, key, values)` for a key of any kind.

    RuntimeError for values that do not fit what the key picks: with a slice in the key, NumPy
    (2.4) crashes on those of more dimensions.
    """
    np.add.at(out, key, fitted(values, out, key))


def fitted(values: Any, out: Array, key: Any) -> Any:
    """Values in the shape of what a key picks. RuntimeError if they cannot be broadcast to it."""
    if not np.ndim(values):
        return values
    picked = out[key].shape
    try:
        return np.broadcast_to(values, picked)
    except ValueError:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(np.shape(values))} cannot be broadcast "
            f"to indexing result of shape {list(picked)}"
        ) from None


def add_rows(out: Array, numbers: Array, rows: Array) -> None:
    """`np.add.at(out, numbers, rows)` for a list of numbers, with a row of values for each.

    IndexError for a number that is none of a row.
    """
    if not _is_flat(out):
        np.add.at(out, numbers, rows)
        return
    table = reshaped_view(out, len(out), -1)
    length = table.shape[1]
    rows = rows.reshape(numbers.size, length)
    numbers = np.asarray(numbers, np.intp)  # places in the whole table are larger than row numbers
    if length < ADD_ROW_MIN:
        if numbers.size and not -len(out) <= numbers.min() <= numbers.max() < len(out):
            raise IndexError(f"a row number is out of range for {len(out)} rows")
        flat = (numbers % len(out) * length)[:, None] + np.arange(length)
        np.add.at(reshaped_view(out, -1), flat.reshape(-1), rows.reshape(-1))
        return
    for number, row in zip(numbers.tolist(), rows, strict=True):
        table[number] += row


def _is_flat(out: Array) -> bool:
    return not is_symbolic(out.dtype) and out.flags.c_contiguous and out.size > 0


def reshaped_view(out: Array, *shape: int) -> Array:
    """An array in another shape, to be written to: on its memory, where `reshape` may copy.

    ValueError for an array whose elements do not lie in a row.
    """
    if not out.flags.c_contiguous:
        raise ValueError("only an array in row-major order can be written to in another shape")
    return out.reshape(shape)


def gather(self: Array, dim: int, index: Array) -> Any:
    """For every place of `index`, the element at that position along a dimension."""
    if not index.size:  # of whatever shape and dtype
        return np.empty_like(self, order="C", shape=index.shape)
    return np.atleast_1d(self)[places_of(self.shape, dim, index)].reshape(index.shape)


def gather_backward(self: Array, shape: Sequence[int], dim: int, index: Array) -> Array:
    """Zeros with `self` added at positions along a dimension."""
    out = np.zeros_like(self, order="C", shape=shape or (1,))
    if index.size:
        add_at(out, places_of(shape, dim, index), np.atleast_1d(self))
    return out.reshape(shape)


def scatter_add(self: Array, dim: int, index: Array, src: Array) -> Array:
    """A copy with the elements of `src` added at positions along a dimension."""
    if _is_empty(self, dim, index) and src.dtype == self.dtype:
        return self.copy()
    out = np.atleast_1d(self.copy())
    add_at(out, places_of(self.shape, dim, index), values_for(index, src, self))
    return out.reshape(self.shape)


def scatter(self: Array, dim: int, index: Array, src: Any) -> Array:
    """A copy with elements of an array, or with a number, at positions along a dimension."""
    is_number = not isinstance(src, np.ndarray)
    if _is_empty(self, dim, index) and (is_number or src.dtype == self.dtype):
        return self.copy()
    out = np.atleast_1d(self.copy())
    value = converted(src, self.dtype) if is_number else values_for(index, src, self)
    out[places_of(self.shape, dim, index)] = value
    return out.reshape(self.shape)


def _is_empty(self: Array, dim: int, index: Array) -> bool:
    """Return whether an index, of whatever shape and dtype, has no positions; IndexError."""
    if index.size:
        return False
    normalize_dim(dim, self.ndim)
    return True


def values_for(index: Array, src: Array, self: Array) -> Array:
    """The part of `src` that has a place in `index`; a number counts as a list of one."""
    if src.dtype != self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not index.size:
        return src.reshape(-1)[:0]
    wanted, given = index.shape or (1,), src.shape or (1,)
    if len(wanted) != len(given) or any(map(operator.gt, wanted, given)):
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than src {list(src.shape)}"
        )
    return np.atleast_1d(corner(src, index.shape))


def corner(self: Array, size: Sequence[int]) -> Array:
    """A view of the first slices of every dimension; a number counts as a list of one."""
    if 0 in size:  # of no elements, whatever the dimensions of either
        return np.atleast_1d(self)[:0].reshape(size)
    if not self.ndim:
        return self.reshape(size)
    if not size and self.ndim == 1:
        return self[(0, ...)]
    part: tuple[Any, ...] = tuple(slice(length) for length in size)
    return self[(*part, ...)]


def in_corner(self: Array, size: Sequence[int]) -> Array:
    """Zeros with an array in the first slices of every dimension."""
    out = np.zeros_like(self, order="C", shape=size)
    if self.size:
        corner(out, self.shape)[...] = self
    return out


def places_of(shape: Sequence[int], dim: int, index: Array) -> tuple[Any, ...]:
    """The key under which NumPy finds what `index` means; positions must not be negative."""
    dim = normalize_dim(dim, len(shape))
    if not index.size:  # of whatever shape and dtype, it names no place
        return (np.empty(0, np.intp),) * max(len(shape), 1)
    if index.dtype.kind not in "iu":
        raise RuntimeError("gather(): Expected dtype int64 for index")
    if max(index.ndim, 1) != max(len(shape), 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    sizes = shape or (1,)
    for each, (wanted, given) in enumerate(zip(np.atleast_1d(index).shape, sizes, strict=True)):
        if each != dim and wanted > given:
            raise RuntimeError(
                f"Size does not match at dimension {each} expected index {list(index.shape)} to "
                f"be no larger than self {list(shape)} apart from dimension {dim}"
            )
    if not (index.min() >= 0 and index.max() < sizes[dim]):
        outside = index[(index < 0) | (index >= sizes[dim])]
        raise RuntimeError(
            f"index {outside.flat[0]} is out of bounds for dimension {dim} with size {sizes[dim]}"
        )
    if len(sizes) == 1:
        return (np.atleast_1d(index),)
    last = len(sizes) - 1
    return tuple(
        index if each == dim else np.arange(length).reshape(-1, *(1,) * (last - each))
        for each, length in enumerate(index.shape)
    )


_REDUCTIONS: dict[str, Callable[[Array, tuple[Any, ...], Array], None]] = {
    "sum": add_at,
    "mean": add_at,
    "prod": np.multiply.at,
    "amax": np.maximum.at,
    "amin": np.minimum.at,
}


def scatter_reduce(
    self: Array, dim: int, index: Array, src: Array, reduce: str, include_self: bool
) -> Array:
    """A copy where the elements that meet at one position are reduced to one."""
    if reduce not in _REDUCTIONS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    if (self.dtype.kind, reduce) in (("b", "mean"), ("c", "amax"), ("c", "amin")):
        raise NotImplementedError(f"{reduce!r} not implemented for '{type_name(self.dtype)}'")
    if _is_empty(self, dim, index):
        return self.copy()
    places, values = places_of(self.shape, dim, index), values_for(index, src, self)
    out = np.atleast_1d(self.copy())
    if not include_self:
        # The greatest and the smallest of some numbers may be compared with one of them again.
        out[places] = {"prod": 1, "sum": 0, "mean": 0}.get(reduce, values)
    _REDUCTIONS[reduce](out, places, values)
    if reduce == "mean":
        count = np.atleast_1d(scatter_count(self, dim, index, include_self))
        out = out / count if self.dtype.kind in DIFFERENTIABLE_KINDS else out // count
    return out.reshape(self.shape)


def scatter_count(self: Array, dim: int, index: Array, include_self: bool) -> Array:
    """Count the elements at each position, at least one; in the dtype of the elements."""
    count = np.full(self.shape or (1,), int(include_self))
    np.add.at(count, places_of(self.shape, dim, index), 1)
    return np.maximum(count, 1).astype(self.dtype).reshape(self.shape)


def flat_places(self: Array, dim: int, index: Array) -> Array:
    """List positions along a dimension as positions in the flattened array."""
    places = np.broadcast_arrays(*places_of(self.shape, dim, index))
    return np.ravel_multi_index([place.reshape(-1) for place in places], self.shape or (1,))

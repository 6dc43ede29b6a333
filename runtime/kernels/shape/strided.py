"""Memory read, and written into copies, at any strides: `as_strided` and its derivatives.

`layout` holds the strides, in elements, of the array that the caller meant. An array with these
strides is viewed; of any other, the elements are found that would have stood at those places.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided as strided_view

from ..elementwise.checks import Array

Sizes = tuple[int, ...]


def as_strided(
    self: Array, size: Sequence[int], stride: Sequence[int], offset: int, layout: Sequence[int]
) -> Array:
    """A view of the memory from element `offset` on; a copy for an array of other strides."""
    item = self.dtype.itemsize
    own = [step // item for step in self.strides]
    if any(a != b for a, b, n in zip(own, layout, self.shape, strict=True) if n > 1):
        return strided_spread(self, size, stride, offset, layout)
    if 0 in size:
        return self.reshape(-1)[:0].reshape(size)
    _check_memory(self, size, stride, offset)
    start = strided_view(self, (2,), (offset * item,), subok=True)[1:]
    return strided_view(start, size, [step * item for step in stride], subok=True)


def _check_memory(self: Array, size: Sequence[int], stride: Sequence[int], offset: int) -> None:
    """Raise RuntimeError for elements outside of the memory that the array is a part of."""
    owner: Any = self
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    lowest, end = byte_bounds(owner)
    reach = [(length - 1) * step for length, step in zip(size, stride, strict=True)]
    item = self.dtype.itemsize
    first = self.__array_interface__["data"][0] + offset * item
    low = first + sum(step for step in reach if step < 0) * item
    high = first + (sum(step for step in reach if step > 0) + 1) * item
    if low < lowest or high > end:
        raise RuntimeError(
            f"as_strided: sizes {list(size)}, strides {list(stride)} and offset {offset} are out "
            f"of bounds for a storage of {end - lowest} bytes"
        )


def strided_spread(
    self: Array, size: Sequence[int], stride: Sequence[int], offset: int, layout: Sequence[int]
) -> Array:
    """A copy of the elements at these places, the mean where they share one; zeros for none."""
    positions, found, owners = _positions(
        self.shape, tuple(layout), tuple(size), tuple(stride), offset
    )
    flat = self.reshape(-1)
    shared = _shared(owners)
    if shared.max(initial=1) > 1:
        total = np.zeros_like(flat)
        np.add.at(total, owners, flat)
        flat = total / shared.astype(self.real.dtype)
    out = np.zeros_like(self, order="C", shape=tuple(size))
    out[found] = flat[positions[found]]
    return out


def strided_scatter(
    self: Array,
    src: Array,
    size: Sequence[int],
    stride: Sequence[int],
    offset: int,
    layout: Sequence[int],
) -> Array:
    """A copy of `self` with `src` at these places; what the array does not have is dropped."""
    if src.shape != tuple(size):
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(size)}"
        )
    positions, found, owners = _positions(
        self.shape, tuple(layout), tuple(size), tuple(stride), offset
    )
    is_shared = np.unique(positions[found]).size < np.count_nonzero(found)
    if is_shared or _shared(owners).max(initial=1) > 1:
        raise RuntimeError(
            "as_strided_scatter: more than one element of the written-to tensor refers to a single "
            "memory location: please clone() it before"
        )
    flat = self.reshape(-1).copy()
    flat[positions[found]] = src[found]
    return flat.reshape(self.shape)


def as_strided_backward(
    self: Array,
    shape: Sequence[int],
    stride: Sequence[int],
    offset: int,
    layout: Sequence[int],
) -> Array:
    """The sum, for each element of an array of `shape`, of what was read of it.

    Elements of the array that share memory share the sum equally, as in PyTorch.
    """
    positions, found, owners = _positions(
        tuple(shape), tuple(layout), self.shape, tuple(stride), offset
    )
    flat = np.zeros_like(self, order="C", shape=owners.size)
    np.add.at(flat, positions[found], self[found])
    shared, whole = _shared(owners), flat[owners]
    if shared.max(initial=1) > 1:
        whole = whole / shared.astype(self.real.dtype)
    return whole.reshape(tuple(shape))


def _shared(owners: Any) -> Any:
    """Return how many elements lie where each one lies."""
    return np.bincount(owners, minlength=owners.size)[owners]


@lru_cache(maxsize=64)
def _positions(
    shape: Sizes, layout: Sizes, size: Sizes, stride: Sizes, offset: int
) -> tuple[Any, Any, Any]:
    """Match the places that are read with the elements of an array.

    Three arrays: the position of the element at each place, whether there is one, and for each
    element the first one on the same memory.
    """
    elements = _addresses(shape, layout, 0).reshape(-1)
    distinct, first, inverse = np.unique(elements, return_index=True, return_inverse=True)
    wanted = _addresses(size, stride, offset)
    if not distinct.size:
        return np.zeros(size, np.int64), np.zeros(size, np.bool_), first
    at = np.minimum(np.searchsorted(distinct, wanted), distinct.size - 1)
    return first[at], distinct[at] == wanted, first[inverse.reshape(-1)]


def _addresses(size: Sizes, stride: Sizes, offset: int) -> Any:
    """The distance of each element from the first of the array, in elements."""
    found = np.full(size, offset, np.int64)
    for axis, (length, step) in enumerate(zip(size, stride, strict=True)):
        line = step * np.arange(length)
        found += line.reshape(-1, *(1,) * (len(size) - axis - 1))
    return found

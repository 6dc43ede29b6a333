"""`gather` and `scatter`: an index for every element, along one dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.number_conversion import converted
from ..elementwise.checks import Array, normalize_dim
from .adding import add_at


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
    out = np.atleast_1d(self.copy())
    add_at(out, places_of(self.shape, dim, index), values_for(index, src, self))
    return out.reshape(self.shape)


def scatter(self: Array, dim: int, index: Array, src: Any) -> Array:
    """A copy with elements of an array, or with a number, at positions along a dimension."""
    out = np.atleast_1d(self.copy())
    value = (
        values_for(index, src, self) if isinstance(src, np.ndarray) else converted(src, self.dtype)
    )
    out[places_of(self.shape, dim, index)] = value
    return out.reshape(self.shape)


def values_for(index: Array, src: Array, self: Array) -> Array:
    """The part of `src` that has a place in `index`."""
    if src.dtype != self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if src.ndim != index.ndim or any(
        wanted > given for wanted, given in zip(index.shape, src.shape, strict=True)
    ):
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than src {list(src.shape)}"
        )
    return np.atleast_1d(corner(src, index.shape))


def corner(self: Array, size: Sequence[int]) -> Array:
    """A view of the first slices of every dimension."""
    part: tuple[Any, ...] = tuple(slice(length) for length in size)
    return self[(*part, ...)]


def in_corner(self: Array, size: Sequence[int]) -> Array:
    """Zeros with an array in the first slices of every dimension."""
    out = np.zeros_like(self, order="C", shape=size)
    corner(out, self.shape)[...] = self
    return out


def places_of(shape: Sequence[int], dim: int, index: Array) -> tuple[Any, ...]:
    """The key under which NumPy finds what `index` means; positions must not be negative."""
    dim = normalize_dim(dim, len(shape))
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
    if index.size and not (index.min() >= 0 and index.max() < sizes[dim]):
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

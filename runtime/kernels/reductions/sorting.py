"""Sorted lines, and what is read from them: medians, modes, quantiles.

Sorting is stable throughout, so that it is also the stable sort; nan stands at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes.promotion import type_name
from ...fast.tuning import PARTITION_MIN
from ..elementwise.checks import Array, normalize_dim
from ..shape.layout import in_order
from .extremes import take_along_dim

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")

_SINGLE = 4
"""The bytes of a number in single precision: positions of quantiles need as much."""


def sort(self: Array, dim: int, descending: bool) -> tuple[Any, Any]:
    """The elements in order, nan counting as the largest, and where each came from."""
    dim = normalize_dim(dim, self.ndim)
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    if descending:
        # The stable order of the mirror image, mirrored: equal elements stay in their order.
        mirrored = np.flip(self, dim).argsort(dim, kind="stable")
        indices = self.shape[dim] - 1 - np.flip(mirrored, dim)
    else:
        indices = self.argsort(dim, kind="stable")
    return np.take_along_axis(self, indices, dim), indices


def topk(self: Array, k: int, dim: int, largest: bool) -> tuple[Any, Any]:
    """The first `k` elements in descending order, or in ascending order."""
    dim = normalize_dim(dim, self.ndim)
    if not 0 <= k <= (self.shape[dim] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    indices = _first(self, k, dim, largest)
    if indices is not None:
        return np.take_along_axis(self, indices, dim), indices
    values, indices = sort(self, dim, largest)
    if not self.ndim:
        return values, indices
    first = (*(slice(None),) * dim, slice(k))
    return in_order(values[first]), in_order(indices[first])


def _first(self: Array, k: int, dim: int, largest: bool) -> Array | None:
    """Find the first `k` elements without sorting the others.

    None where that would not pay, or where equal elements or nan make it a matter of the order.
    """
    if self.dtype.kind not in "fi" or self.size < PARTITION_MIN or not 0 < 4 * k <= self.shape[dim]:
        return None
    rows = np.moveaxis(self, dim, -1)
    border = -k if largest else k - 1

    last = np.partition(rows, border, axis=-1)[..., border, None]
    among = rows >= last if largest else rows <= last
    if (np.count_nonzero(among, axis=-1) != k).any() or np.isnan(rows).any():
        return None
    found = among.nonzero()[-1].reshape(*rows.shape[:-1], k)
    _, order = sort(np.take_along_axis(rows, found, -1), found.ndim - 1, largest)
    return in_order(np.moveaxis(np.take_along_axis(found, order, -1), -1, dim))


def kthvalue(self: Array, k: int, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """The `k`-th smallest element, counted from one."""
    dim = normalize_dim(dim, self.ndim)
    if self.ndim and not self.shape[dim]:
        raise IndexError(f"kthvalue(): Expected reduction dim {dim} to have non-zero size.")
    if not 1 <= k <= (self.shape[dim] if self.ndim else 1):
        raise RuntimeError("kthvalue(): selected number k out of range for dimension")
    values, indices = sort(self, dim, False)
    if not self.ndim:
        return values, indices
    place = (*(slice(None),) * dim, slice(k - 1, k) if keepdim else k - 1, ...)
    return values[place], indices[place]


def nonzero(self: Array) -> Any:
    """The positions of the elements that are not zero, one row each."""
    if not self.ndim:
        return np.zeros((int(bool(self)), 0), np.int64)
    return np.stack(self.nonzero()).T  # in whose order PyTorch has them in memory, too


def median(self: Array, ignores_nan: bool) -> Any:
    """The lower of the middle elements; nan of no elements, and of nan unless these are ignored."""
    _refuse_bools(self)
    flat = self.reshape(-1)
    if ignores_nan:
        flat = flat[~np.isnan(flat)]
    if not flat.size:
        return np.full_like(self, np.nan, order="C", shape=())
    middle = (flat.size - 1) // 2
    ordered = np.partition(flat, (middle, flat.size - 1))
    return ordered[-1] if np.isnan(ordered[-1]) else ordered[middle]


def median_with_indices(
    self: Array, dim: int, keepdim: bool, ignores_nan: bool
) -> tuple[Array, Array]:
    """Return the lower of the middle elements along a dimension, and its position."""
    _refuse_bools(self)
    dim = _filled_dim("median", self, dim)
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    values, indices = sort(self, dim, False)
    length = self.shape[dim]
    numbers = length - np.count_nonzero(np.isnan(values), axis=dim, keepdims=True)
    middle = np.maximum(numbers - 1, 0) // 2
    # Unless nan is ignored the median of a line with nan is the first of these.
    place = middle if ignores_nan else np.where(numbers < length, numbers, middle)
    return _picked(values, indices, place, dim, keepdim)


def mode(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The most frequent element along a dimension, the smallest of several, and its last place."""
    dim = _filled_dim("mode", self, dim)
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    values, indices = sort(self, dim, False)
    lines = np.moveaxis(values, dim, -1)
    places = np.arange(lines.shape[-1])
    begins = np.ones(lines.shape, bool)
    begins[..., 1:] = lines[..., 1:] != lines[..., :-1]
    run = places - np.maximum.accumulate(np.where(begins, places, 0), axis=-1)
    place = np.moveaxis(run.argmax(-1, keepdims=True), -1, dim)
    return _picked(values, indices, place, dim, keepdim)


def _picked(
    values: Array, indices: Array, place: Array, dim: int, keepdim: bool
) -> tuple[Array, Array]:
    """Return the element at one position of each line."""
    if not keepdim:
        place = place.squeeze(dim)
    return take_along_dim(values, dim, place, keepdim), take_along_dim(indices, dim, place, keepdim)


def _filled_dim(op: str, self: Array, dim: int) -> int:
    dim = normalize_dim(dim, self.ndim)
    if self.ndim and not self.shape[dim]:
        raise IndexError(f"{op}(): Expected reduction dim {dim} to have non-zero size.")
    return dim


def _refuse_bools(self: Array) -> None:
    if self.dtype.kind == "b":
        raise NotImplementedError(f"median is not implemented for '{type_name(self.dtype)}'")


def quantile_points(q: Array, x: Array, interpolation: str) -> Array:
    """Return the quantiles that are asked for as a vector; RuntimeError if there are none."""
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"quantile() interpolation must be one of {', '.join(_INTERPOLATIONS)}, but got "
            f"{interpolation}"
        )
    if not x.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if x.dtype.kind in "iubc" or x.dtype.itemsize < _SINGLE:
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if q.dtype != x.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if q.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if not np.all((q >= 0) & (q <= 1)):
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    return q.reshape(-1).copy()


def positions(self: Array) -> Array:
    """Whole numbers as indices."""
    return self.astype(np.int64)

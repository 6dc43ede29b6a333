"""Counts, bins and unique elements; none has a gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes.promotion import type_name
from ..elementwise.checks import Array, floating, normalize_dim

Found = tuple[Array, Array, Array]
"""The unique elements, the index of each element among them, and counts."""


def histc(self: Array, bins: int, min: Any, max: Any) -> Array:
    """Count elements in equal bins of a range, or of their own range if that is empty."""
    if bins <= 0:
        raise RuntimeError(f"torch.histc: bins must be > 0, but got {bins}")
    low, high = float(min), float(max)
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    floating("histc", self)
    if low == high and self.size:
        low, high = float(self.min()), float(self.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    inside = self[(self >= low) & (self <= high)]
    places = ((inside - low) * bins / (high - low)).astype(np.int64)
    counts = np.bincount(np.minimum(places, bins - 1), minlength=bins)
    return counts.astype(self.dtype)


def bincount(self: Array, weights: Array | None, minlength: int) -> Array:
    """Count each non-negative number, or sum its weights."""
    if self.dtype.kind not in "iu":
        raise NotImplementedError(f"bincount is not implemented for '{type_name(self.dtype)}'")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if self.ndim != 1 or (self.size and self.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None or not self.size:
        return np.bincount(self.astype(np.int64), minlength=minlength)
    if weights.shape != self.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    sums = np.bincount(self, weights, minlength)
    return sums.astype(weights.dtype) if weights.dtype == np.float32 else sums


def searchsorted(
    sorted_sequence: Array,
    self: Any,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: Array | None,
) -> Any:
    """Find insertion points in sorted sequences; nan goes to the end."""
    if side not in (None, "left", "right"):
        raise RuntimeError(f"searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError("searchsorted(): side and right can't be set to opposites")
    values = np.asarray(self)
    if sorter is not None:
        sorted_sequence = _sorted_by(sorter, sorted_sequence)
    found = _places(sorted_sequence, values, "right" if right or side == "right" else "left")
    if values.dtype.kind == "f":
        found = np.where(np.isnan(values), sorted_sequence.shape[-1], found)
    return found.astype(np.int32 if out_int32 else np.int64)


def _sorted_by(sorter: Array, sequence: Array) -> Array:
    if sorter.shape != sequence.shape:
        raise RuntimeError(
            "searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
            f"{list(sequence.shape)} and sorter tensor {list(sorter.shape)}"
        )
    if sorter.dtype != np.int64:
        raise RuntimeError("searchsorted(): sorter must be a tensor of long dtype")
    if sorter.size and not 0 <= sorter.min() <= sorter.max() < sequence.shape[-1]:
        raise RuntimeError("searchsorted(): sorter index out of range")
    return np.take_along_axis(sequence, sorter, -1)


def _places(sequence: Array, values: Array, side: Any) -> Any:
    """In one sequence for all values, or in a sequence for each line of them."""
    if sequence.ndim == 1:
        return np.searchsorted(sequence, values, side)
    if not values.ndim:
        raise RuntimeError(
            "searchsorted(): input value can be a scalar only when boundaries tensor dimension is "
            f"1, but we got boundaries tensor dim({sequence.ndim})"
        )
    if sequence.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            "searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions "
            "of boundaries tensor and input value tensor must match, but we got boundaries tensor "
            f"{list(sequence.shape)} and input value tensor {list(values.shape)}"
        )
    found = np.empty(values.shape, np.int64)
    for line in np.ndindex(values.shape[:-1]):
        found[line] = np.searchsorted(sequence[line], values[line], side)
    return found


def bucketize(self: Any, boundaries: Array, out_int32: bool, right: bool) -> Any:
    """Between which boundaries elements fall."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, self, out_int32, right, None, None)


def unique(self: Array) -> Found:
    """The elements that differ, in order; nan differs from nan."""
    _refuse_complex(self)
    values, inverse, counts = np.unique(
        self.reshape(-1), return_inverse=True, return_counts=True, equal_nan=False
    )
    return values, inverse.reshape(self.shape), counts


def unique_dim(self: Array, dim: int) -> Found:
    """The slices of a dimension that differ, in order."""
    _refuse_complex(self)
    dim = _filled_dim(self, dim)
    if not self.size:
        return self.copy(), np.zeros(0, np.int64), np.zeros(0, np.int64)
    values, inverse, counts = np.unique(
        self, return_inverse=True, return_counts=True, axis=dim, equal_nan=False
    )
    return values, inverse.reshape(-1), counts


def unique_consecutive(self: Array, dim: int | None) -> Found:
    """The elements, or the slices of a dimension, that differ from the one before."""
    slices = self.reshape(-1) if dim is None else np.moveaxis(self, _filled_dim(self, dim), 0)
    begins = np.ones(len(slices), bool)
    differs: Any = slices[1:] != slices[:-1]
    begins[1:] = differs.reshape(len(differs), -1).any(1) if len(differs) else False
    counts = np.diff(np.append(begins.nonzero()[0], len(slices)))
    inverse = np.cumsum(begins) - 1
    if dim is None:
        return slices[begins], inverse.reshape(self.shape), counts
    return np.moveaxis(slices[begins], 0, dim).copy(order="C"), inverse, counts


def _filled_dim(self: Array, dim: int) -> int:
    dim = normalize_dim(dim, self.ndim)
    if not all(length for axis, length in enumerate(self.shape) if axis != dim):
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    return dim


def _refuse_complex(self: Array) -> None:
    if self.dtype.kind == "c":
        raise NotImplementedError("unique is not implemented for complex numbers")

"""Medians, modes and quantiles, from lines that are put in order; nan stands at their end."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.type_promotion import type_name
from ..elementwise.checks import Array, normalize_dim
from .extremes import take_along_dim
from .sorting import sort

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")

_SINGLE = 4
"""The bytes of a number in single precision: positions of quantiles need as much."""


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
    """The lower of the middle elements along a dimension, and where it stands."""
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
    """What stands at one place of each line."""
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
    """Where in the order quantiles of `x` are asked for, as a vector; RuntimeError if nowhere."""
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

"""Cumulative reductions; and products, whose gradients are linear recurrences."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementwise.checks import Array, floating, normalize_dim
from ..elementwise.complex_numbers import complex_log_of_sum
from ..elementwise.masking import where
from ..shape.layout import in_order

_multiply_reduce: Any = np.multiply.reduce


def prod(self: Array, dim: int | None, keepdim: bool, dtype: Any) -> Any:
    """Products; those of integers and bools are int64."""
    if dtype is None and self.dtype.kind in "iub":
        dtype = np.int64
    return _multiply_reduce(self, dim, dtype, keepdims=keepdim)


def other_products(self: Array, dim: int) -> Array:
    """For each element the product of all the others along a dimension.

    The first half is multiplied by the second, element by element. The others of an element are
    then its partner and the others of the pair.
    """
    dim = normalize_dim(dim, self.ndim)
    half = self.shape[dim] // 2
    if not half:
        return np.ones_like(self)
    before = (slice(None),) * dim
    first, second = (*before, slice(half)), (*before, slice(half, 2 * half))
    middle, last = (*before, slice(half, None)), (*before, slice(2 * half, None))
    pairs = np.empty_like(self[middle])
    np.multiply(self[first], self[second], out=pairs[first])
    pairs[middle] = self[last]  # of an odd number one has no partner
    others = other_products(pairs, dim)
    out = np.empty_like(self)
    np.multiply(others[first], self[second], out=out[first])
    np.multiply(others[first], self[first], out=out[second])
    out[last] = others[middle]
    return out


def cumprod(self: Array, dim: int, dtype: Any) -> Any:
    """Running products; those of integers and bools are int64."""
    if dtype is None and self.dtype.kind in "iub":
        dtype = np.int64
    dim = normalize_dim(dim, self.ndim)
    if not self.ndim:
        return self.copy() if dtype is None else self.astype(dtype)
    return in_order(np.multiply.accumulate(self, dim, dtype))


def recurrence(
    self: Array, factor: Array, dim: int, reverse: bool, starts: Array | None = None
) -> Array:
    """`h[i] = self[i] + factor[i] * h[i-1]`, or backwards, in a logarithmic number of steps.

    Each step composes twice as many of the maps `h -> self + factor * h` as the one before, up to
    the last place where `starts` is true: what is before that, be it infinite, has no part in it.
    """
    dim = normalize_dim(dim, self.ndim)
    if not self.ndim:
        return self.copy()
    if reverse:
        factor, starts = np.flip(delay(factor, dim, -1, 0), dim), _begun_from_behind(starts, dim)
        return np.flip(recurrence(np.flip(self, dim), factor, dim, False, starts), dim)
    before = (slice(None),) * dim
    total, slope, goes_on = self, factor, None if starts is None else ~starts
    steps = 1
    while steps < self.shape[dim]:
        first = (*before, slice(steps))
        late, early = (*before, slice(steps, None)), (*before, slice(-steps))
        grown, longer = slope[late] * total[early], slope[late] * slope[early]
        if goes_on is not None:
            grown, longer = where(goes_on[late], grown, 0), where(goes_on[late], longer, 0)
            goes_on = np.concatenate([goes_on[first], goes_on[late] & goes_on[early]], dim)
        total = np.concatenate([total[first], total[late] + grown], dim)
        slope = np.concatenate([slope[first], longer], dim)
        steps *= 2
    return total


def _begun_from_behind(starts: Array | None, dim: int) -> Array | None:
    """Return the start of a recurrence that runs backwards."""
    return None if starts is None else np.flip(delay(starts, dim, -1, True), dim)


def delay(self: Array, dim: int, steps: int, fill: Any) -> Array:
    """Elements moved along a dimension, with a number in the places left free."""
    dim = normalize_dim(dim, self.ndim)
    out = np.full_like(self, fill)
    if not self.ndim:
        return out
    start, stop = max(steps, 0), min(steps, 0)
    before = (slice(None),) * dim
    target = slice(start, stop or None)
    source = slice(-stop, -start or None)
    out[(*before, target)] = self[(*before, source)]
    return out


def cummax(self: Array, dim: int) -> tuple[Array, Array]:
    """Return the running maxima and their positions; of equal ones and of nan the last."""
    return _running(np.maximum, self, dim)


def cummin(self: Array, dim: int) -> tuple[Array, Array]:
    """Return the running minima and their positions; of equal ones and of nan the last."""
    return _running(np.minimum, self, dim)


def _running(extreme: np.ufunc, self: Array, dim: int) -> tuple[Array, Array]:
    dim = normalize_dim(dim, self.ndim)
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    values = in_order(extreme.accumulate(self, dim))
    places = np.arange(self.shape[dim]).reshape(-1, *(1,) * (self.ndim - dim - 1))
    reached = np.where((self == values) | np.isnan(self), places, 0)
    return values, in_order(np.maximum.accumulate(reached, dim))


def logcumsumexp(self: Array, dim: int) -> Any:
    """Logarithms of the running sums of exponentials, which themselves are not computed."""
    floating("logcumsumexp", self)
    dim = normalize_dim(dim, self.ndim)
    if not self.ndim:
        return self.copy()
    if self.dtype.kind == "c":
        return _complex_logcumsumexp(self, dim)
    return in_order(np.logaddexp.accumulate(self, dim))


def _complex_logcumsumexp(self: Array, dim: int) -> Array:
    totals = np.moveaxis(self, dim, 0).copy()
    before = np.full(totals.shape[1:], -np.inf, self.dtype)
    for place in range(len(totals)):
        before = totals[place] = complex_log_of_sum(totals[place], before)
    return in_order(np.moveaxis(totals, 0, dim))

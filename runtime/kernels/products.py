"""Products along a dimension, and the linear recurrences that their gradients are."""

from __future__ import annotations

from typing import Any

import numpy as np

from .checks import Array, normalize_dim
from .layout import in_order

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


def recurrence(self: Array, factor: Array, dim: int, reverse: bool) -> Array:
    """`h[i] = self[i] + factor[i] * h[i-1]`, or backwards, in a logarithmic number of steps.

    Each step composes twice as many of the maps `h -> self + factor * h` as the one before.
    """
    dim = normalize_dim(dim, self.ndim)
    if not self.ndim:
        return self.copy()
    if reverse:
        return np.flip(
            recurrence(np.flip(self, dim), np.flip(delay(factor, dim, -1, 0), dim), dim, False), dim
        )
    total, slope = self, factor
    steps = 1
    while steps < self.shape[dim]:
        total = total + slope * delay(total, dim, steps, 0)
        slope = slope * delay(slope, dim, steps, 0)
        steps *= 2
    return total


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

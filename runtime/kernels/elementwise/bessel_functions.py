"""Airy functions, and spherical Bessel functions of whole arrays."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...dtypes.kinds import is_symbolic
from ...fast import scipy_special
from ..elementwise.checks import Array

_NEAR: Final = 1.0
"""Up to here the power series of spherical Bessel functions has all digits."""

_TERMS: Final = 12

_AIRY_VANISHES: Final = 1000.0
"""From 104 on Airy's function is below all floats; SciPy answers nan from some point on."""


def airy(self: Array, order: int) -> Any:
    """Airy's function Ai, or with `order` 1 its derivative."""
    if is_symbolic(self.dtype):
        return scipy_special.airy(self)[order]
    vanished = (self > _AIRY_VANISHES) & np.isfinite(self)
    found = scipy_special.airy(np.where(vanished, 0, self))[order]
    return np.where(vanished, found.dtype.type(0), found)


def spherical_bessel(self: Array, order: int) -> Any:
    """The spherical Bessel function of the first kind; by its power series near zero."""
    if is_symbolic(self.dtype):
        return _by_recurrence(self, order)
    x = self.astype(np.float64, copy=False)
    near = np.abs(x) < _NEAR + order
    series = _by_series(np.where(near, x, 0), order)
    far = np.where(near | np.isinf(x), 1, x)
    found = np.where(near, series, np.where(np.isinf(x), 0, _by_recurrence(far, order)))
    return found.astype(self.dtype, copy=False)


def _by_recurrence(x: Any, order: int) -> Any:
    """`j[n + 1] = (2 n + 1) / x j[n] - j[n - 1]`, from `sin(x) / x` and `cos(x) / x` at -1."""
    before, now = np.cos(x) / x, np.sin(x) / x
    for n in range(order):
        before, now = now, (2 * n + 1) / x * now - before
    return now


def _by_series(x: Any, order: int) -> Any:
    """`x**n / (2 n + 1)!!` times the sum of `(-x**2 / 2)**k / (k! (2 n + 3) (2 n + 5) ...)`."""
    square = x * x / -2
    total = np.ones_like(x)
    for k in reversed(range(1, _TERMS + 2 * order)):
        total = 1 + total * square / (k * (2 * order + 2 * k + 1))
    return x**order / np.prod(np.arange(1, 2 * order + 2, 2, dtype=np.float64)) * total

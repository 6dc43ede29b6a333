"""Special functions that SciPy has no ufunc for, or that refuse some dtypes."""

from __future__ import annotations

from math import factorial
from typing import Any, Final

import numpy as np

from .. import scipy_special
from ..types import Number
from .checks import Array

_FAR: Final = 10
"""From here on a difference loses two digits and more, and the series needs few terms."""
_TERMS: Final = 14


def polygamma(n: int, self: Array) -> Any:
    """The derivative of order `n` of `digamma`, by the Hurwitz zeta function."""
    from scipy import special

    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return special.digamma(self)
    return (-1) ** (n + 1) * factorial(n) * special.zeta(n + 1, self)


def erfcx_slope(self: Array, height: Number) -> Any:
    """`2 * x * erfcx(x) - height`, where `height` is 2 / sqrt(pi); far out by a series.

    That is `height` times the sum of `(-1)**n * (2 n - 1)!! / (2 x**2)**n` from n = 1, here
    summed from its end: each term is `-(2 n - 1) / (2 x**2)` times the one before.
    """
    if self.dtype.kind == "O":
        return 2 * self * scipy_special.erfcx(self) - height
    x = self.astype(np.float64)
    is_far = x > _FAR
    near = np.where(is_far, 0, x)
    ratio = -0.5 / np.square(np.where(is_far, x, _FAR))
    total = np.zeros_like(ratio)
    for n in reversed(range(1, _TERMS + 1)):
        total = (1 + total) * (2 * n - 1) * ratio
    slope = np.where(is_far, height * total, 2 * near * scipy_special.erfcx(near) - height)
    return slope.astype(self.dtype)


def xlog1py(self: Any, other: Any) -> Any:
    """`self * log1p(other)` of an array and a number, which SciPy would take for a double."""
    if isinstance(self, np.ndarray):
        return scipy_special.xlog1py(self, self.dtype.type(other))
    return scipy_special.xlog1py(other.dtype.type(self), other)

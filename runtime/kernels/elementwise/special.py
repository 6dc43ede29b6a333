"""Special functions that SciPy has no ufunc for, or that refuse some dtypes."""

from __future__ import annotations

from math import factorial
from typing import Any, Final

import numpy as np

from ...core import constants
from ...core.types import Number
from ...dtypes.kinds import is_symbolic
from ...fast import scipy_special
from ..elementwise.checks import Array

_FAR: Final = 10
"""From here on a difference loses two digits and more, and the series needs few terms."""

_TERMS: Final = 14

_FAR_OF_BEND: Final = 6.5
"""The same of the second derivative, a difference of terms that grow with the fourth power."""

_TERMS_OF_BEND: Final = 26

_ASYMPTOTIC: Final = 1e8
"""From here on one term of the asymptotic series has all digits."""

_NEGLIGIBLE: Final = 1e-30
"""The square of what is smaller is no float32, and far below what it is added to."""

_SINC_SLOPE: Final = [
    (-1) ** k * 2 * k / factorial(2 * k + 1) * np.pi for k in reversed(range(1, 10))
]
"""Coefficients, highest power first, of the series of `cos(z) / z - sin(z) / z**2` times pi in odd
powers of `z`; nine terms have all digits up to `z = 1`."""


def polygamma(n: int, self: Array) -> Any:
    """The derivative of order `n` of `digamma`, by the Hurwitz zeta function."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return scipy_special.digamma(self)
    return (-1) ** (n + 1) * factorial(n) * scipy_special.zeta(n + 1, self)


def erfcx_slope(self: Array, height: Number) -> Any:
    """`2 * x * erfcx(x) - height`, where `height` is 2 / sqrt(pi); far out by a series.

    That is `height` times the sum of `(-1)**n * (2 n - 1)!! / (2 x**2)**n` from n = 1, here
    summed from its end: each term is `-(2 n - 1) / (2 x**2)` times the one before.
    """
    if is_symbolic(self.dtype):
        return 2 * self * scipy_special.erfcx(self) - height
    _, is_far, near, ratio = _near_and_far(self, _FAR)
    total = np.zeros_like(ratio)
    for n in reversed(range(1, _TERMS + 1)):
        total = (1 + total) * (2 * n - 1) * ratio
    slope = np.where(is_far, height * total, 2 * near * scipy_special.erfcx(near) - height)
    return slope.astype(self.dtype)


def erfcx_bend(self: Array, height: Number) -> Any:
    """The second derivative of erfcx; far out by the series of the slope, term by term.

    The derivative of a term is `-2 n / x` times it.
    """
    if is_symbolic(self.dtype):
        erfcx = scipy_special.erfcx(self)
        return 2 * (erfcx + self * (2 * self * erfcx - height))
    x, is_far, near, ratio = _near_and_far(self, _FAR_OF_BEND)
    total = np.zeros_like(ratio)
    for n in reversed(range(1, _TERMS_OF_BEND + 1)):
        total = (n + total) * (2 * n - 1) * ratio
    erfcx = scipy_special.erfcx(near)
    of_near = 2 * (erfcx + near * (2 * near * erfcx - height))
    of_far = -2 * height * total / np.where(is_far, x, 1)
    return np.where(is_far, of_far, of_near).astype(self.dtype)


def _near_and_far(self: Array, far: float) -> tuple[Any, Any, Any, Any]:
    """The elements as float64, which are far out, the others, and the ratio of far terms."""
    x = self.astype(np.float64)
    is_far = x > far
    ratio = -0.5 / np.square(np.where(is_far, x, far))
    return x, is_far, np.where(is_far, 0, x), ratio


def log_ndtr_slope(self: Array, height: Number, scale: Number) -> Any:
    """`height / erfcx(scale * x)`; in double precision, as erfcx multiplies what rounding takes."""
    if self.dtype.kind != "f":
        return height / scipy_special.erfcx(self * scale)
    wide = self.astype(np.float64, copy=False)
    return (height / scipy_special.erfcx(wide * scale)).astype(self.dtype, copy=False)


def ndtri_slope(self: Array, height: Number) -> Any:
    """`height * exp(ndtri(x)**2 / 2)`; in double precision, for the digits of the square."""
    if self.dtype.kind != "f":
        return height * np.exp(scipy_special.ndtri(self) ** 2 / 2)
    quantile = scipy_special.ndtri(self.astype(np.float64, copy=False))
    return (height * np.exp(np.square(quantile) / 2)).astype(self.dtype, copy=False)


def gaussian(self: Array, rate: Number) -> Any:
    """`exp(-rate * x**2)`; of small floats in double precision, for the digits of the square."""
    if self.dtype.kind != "f" or self.dtype == np.float64:
        return np.exp(self * self * -rate)
    return np.exp(np.square(self, dtype=np.float64) * -rate).astype(self.dtype)


def lgamma(self: Array) -> Any:
    """SciPy's `gammaln`, but finite beside zero and without a sign at minus infinity."""
    found = scipy_special.gammaln(self)
    if self.dtype.kind == "f" and np.isinf(found).any():
        size = np.abs(self)
        near = (size > 0) & (size < np.finfo(self.dtype).tiny)
        unsigned = np.where(np.isinf(found), np.inf, found)
        found = np.where(near, -np.log(np.where(near, size, 1)), unsigned)
    return found


def bessel(self: Array, order: int) -> Any:
    """The modified Bessel function of the first kind; it overflows later than its exponential."""
    if is_symbolic(self.dtype) and order > 1:
        return scipy_special.iv(order, self)
    if order > 1:
        root = np.exp(np.abs(self) / 2)
        return scaled_bessel(self, order) * root * root
    found = scipy_special.i1(self) if order else scipy_special.i0(self)
    if self.dtype.kind == "f" and not np.isfinite(found).all():
        root = np.exp(np.abs(self) / 2)
        found = np.where(np.isinf(found), scaled_bessel(self, order) * root * root, found)
    return found


def scaled_bessel(self: Array, order: int) -> Any:
    """`bessel` times exp(-abs(x)): SciPy's, but by leading terms where that finds no digits."""
    if is_symbolic(self.dtype):
        return scipy_special.ive(order, self)
    if order < 2:
        return scipy_special.i1e(self) if order else scipy_special.i0e(self)
    size = np.abs(self)
    far = size > _ASYMPTOTIC
    near = scipy_special.ive(order, np.where(far | (size < _NEGLIGIBLE), 0, self))
    if not far.any():
        return near
    of_far = scipy_special.i0e(self) * (1 - order * order / (2 * np.where(far, size, 1)))
    return np.where(far, np.copysign(of_far, self) if order % 2 else of_far, near)


def xlog1py(self: Any, other: Any) -> Any:
    """`self * log1p(other)` of an array and a number, which SciPy would take for a double."""
    if hasattr(self, "dtype"):  # also of a number of NumPy's, as which gradients may arrive
        return scipy_special.xlog1py(self, self.dtype.type(other))
    return scipy_special.xlog1py(other.dtype.type(self), other)


def logit(self: Array, eps: float | None) -> Any:
    """`log(x / (1 - x))`; what lies outside of `[eps, 1 - eps]` is moved to the bound first."""
    if eps is not None and eps >= 0:
        self = np.where(self < eps, eps, np.where(self > 1 - eps, 1 - eps, self))
    return scipy_special.logit(self)


@np.errstate(all="ignore")
def sinc(self: Array) -> Any:
    """`sin(pi x) / (pi x)`; a half has too few digits for the multiples of pi."""
    if self.dtype == np.float16:
        return sinc(self.astype(np.float32)).astype(np.float16)
    if self.dtype.kind != "f":
        return np.sinc(self)
    sine, _ = _of_half_turns(self)
    return np.where(self == 0, self.dtype.type(1), sine / (np.pi * self))


def _of_half_turns(x: Array) -> tuple[Any, Any]:
    """`sin(pi x)` and `cos(pi x)`, by what `x` is beyond a whole number, which is a float."""
    whole = np.rint(x)
    rest = (x - whole) * np.pi
    sign = 1 - 2 * np.abs(np.fmod(whole, 2))
    return sign * np.sin(rest), sign * np.cos(rest)


@np.errstate(all="ignore")
def sinc_slope(self: Array) -> Any:
    """The derivative of sinc; the difference that it is would lose all digits near zero."""
    if is_symbolic(self.dtype):
        return (np.cos(constants.pi * self) - np.sinc(self)) / self
    is_near, ratio = _sinc_slope_ratio(self)
    return np.where(is_near, ratio * self, _far_sinc_slope(self))


@np.errstate(all="ignore")
def sinc_bend(self: Array) -> Any:
    """The second derivative of sinc, `-pi**2 sinc(x) - 2 sinc'(x) / x`."""
    if is_symbolic(self.dtype):
        slope = (np.cos(constants.pi * self) - np.sinc(self)) / self
        return -(constants.pi**2) * np.sinc(self) - 2 * slope / self
    is_near, ratio = _sinc_slope_ratio(self)
    ratio = np.where(is_near, ratio, _far_sinc_slope(self) / self)
    return -(np.pi**2) * sinc(self) - 2 * ratio


def _sinc_slope_ratio(self: Array) -> tuple[Any, Any]:
    """The elements near zero, and the slope there as a multiple of the element."""
    is_near = np.abs(self) < 1 / np.pi
    near = np.where(is_near, self, 0) * np.pi
    square = near * near
    series = np.zeros_like(near)
    for coefficient in _SINC_SLOPE:
        series = series * square + coefficient
    return is_near, series * np.pi


def _far_sinc_slope(self: Array) -> Any:
    if self.dtype.kind == "f":
        sine, cosine = _of_half_turns(self)
    else:
        sine, cosine = np.sin(np.pi * self), np.cos(np.pi * self)
    return (cosine - sine / (np.pi * self)) / self

"""The gamma distribution: its density, its quantiles, and derivatives of its shares by the shape.

With the density `w(a, t) = t**(a - 1) exp(-t) / gamma(a)` the derivative of order n of `w` by `a`
is `w` times the complete Bell polynomial `B[n](log(t) - psi(a), -psi'(a), -psi''(a), ...)`.
"""

from __future__ import annotations

from math import comb
from typing import Any, Final

import numpy as np

from ...dtypes.kinds import is_symbolic
from ...fast import scipy_special
from ..elementwise.checks import Array, floating
from ..elementwise.special import polygamma

_LARGE: Final = 16
"""From this shape on Stirling's series for the gamma function has all digits."""

_STIRLING: Final = (1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
"""Coefficients of odd powers of one over the shape, the highest first."""

_NEAR_ONE: Final = 0.25
_TERMS_OF_LOG: Final = 30

_TERMS: Final = 30
"""Terms of the power series of the incomplete gamma function, up to `x = 2`."""
_SMALL: Final = 2.0

_NODES: Final = 97
_REACH: Final = 3.3
"""The points of the quadrature by `tanh(sinh)`, and how far they go."""

_CHUNK: Final = 4096
"""Number of integrals that are computed together."""

_HALVINGS: Final = 24

_NOTHING: Final = -42.0
"""The exponential of this is small beside one."""


def gammainc(self: Array, other: Array) -> Any:
    """SciPy's incomplete gamma function; NotImplementedError for integers."""
    floating("igamma_cpu", self)
    return scipy_special.gammainc(self, other).astype(self.dtype, copy=False)


def gammaincc(self: Array, other: Array) -> Any:
    """One less the incomplete gamma function; NotImplementedError for integers."""
    floating("igammac_cpu", self)
    return scipy_special.gammaincc(self, other).astype(self.dtype, copy=False)


def gamma_density(self: Array, other: Array, order: int, shift: int) -> Any:
    """The derivative of some order, by the shape `self`, of the density at `other`, divided by a
    power of that.
    """
    if is_symbolic(self.dtype) or is_symbolic(other.dtype):
        height = np.exp((self - (1 + shift)) * np.log(other) - other - scipy_special.gammaln(self))
        return height * _bell(np.log(other), self, order)
    a, x = self.astype(np.float64, copy=False), other.astype(np.float64, copy=False)
    with np.errstate(all="ignore"):
        found = _density_slope(a, x, order, shift)
        return found.astype(np.result_type(self, other), copy=False)


def gamma_quantile(self: Array, share: Array) -> Any:
    """The `x` with `P(self, x) = share`, at least the smallest normal number."""
    floating("gamma_cpu", self)
    if is_symbolic(self.dtype):
        return scipy_special.gammaincinv(self, share)
    wide = scipy_special.gammaincinv(self.astype(np.float64), share.astype(np.float64))
    return np.maximum(wide, np.finfo(self.dtype).tiny).astype(self.dtype)


def gammainc_derivative(self: Any, other: Any, order: int) -> Any:
    """The derivative of some order, from 1 on, of the incomplete gamma function by its shape.

    For small `other` by the power series, else as the integral of the derivative of the density,
    from 0 or to infinity, which is the same but for the sign: on the side where it has one sign.
    """
    if is_symbolic(self.dtype) or is_symbolic(other.dtype):
        return self.gammainc_derivative(other, order)
    a, x = np.broadcast_arrays(self.astype(np.float64), other.astype(np.float64))
    with np.errstate(all="ignore"):
        is_inside = (a >= 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
        series = is_inside & (x <= _SMALL) & (a <= _LARGE)
        found = np.where(np.isnan(a) | np.isnan(x) | (a < 0) | (x < 0), np.nan, np.zeros_like(a))
        found[series] = _by_series(a[series], x[series], order)
        rest = is_inside & ~series
        found[rest] = _by_quadrature(a[rest], x[rest], order)
    return found.astype(np.result_type(self, other), copy=False)


def _bell(logarithm: Any, a: Any, order: int) -> Any:
    """The complete Bell polynomial of `log(t) - psi(a)` and the derivatives of `-psi(a)`."""
    slopes = [-polygamma(n, a) for n in range(order)]
    if slopes:
        slopes[0] = slopes[0] + logarithm
    return _of_logarithm(slopes)


def _of_logarithm(slopes: list[Any]) -> Any:
    """`f'...' / f` of an order, from the derivatives of `log(f)`: the complete Bell polynomial."""
    found: list[Any] = [1]
    for n in range(len(slopes)):
        found.append(sum(comb(n, i) * found[n - i] * slopes[i] for i in range(n + 1)))
    return found[-1]


def _density_slope(a: Any, t: Any, order: int, shift: int = 0) -> Any:
    """The derivative of the density; of small shapes, where psi has poles, as that of
    `a * (t**(a - 1) exp(-t) / gamma(a + 1))`.
    """
    small = a < 1
    shape = np.where(small, a + 1, a)
    slopes = [-polygamma(n, shape) for n in range(order)]
    if slopes:
        slopes[0] = slopes[0] + np.log(t)
    height = np.exp(_log_density(a, t, shift))
    found = _of_logarithm(slopes)
    if order:
        found = np.where(small, a * found + order * _of_logarithm(slopes[:-1]), found)
    else:
        found = np.where(small, a, 1)
    return np.where((t == 0) & (a > 1 + shift), 0, height * found)


def _log_density(a: Any, x: Any, shift: int) -> Any:
    """`log(w(a, x) / x**shift)`, less `log(a)` for shapes below one.

    Of large shapes by what `x` is beside the shape: C. Loader, Fast and Accurate Computation of
    Binomial Probabilities (2000).
    """
    large = a >= _LARGE
    gamma = scipy_special.gammaln(np.where(a < 1, a + 1, a))
    plain = scipy_special.xlogy(a - (1 + shift), x) - x - gamma
    big = np.where(large, a, _LARGE)
    ratio = np.where(large & (x > 0), (x - a) / big, 0)
    inverse = 1 / big
    rest = np.zeros_like(big)
    for coefficient in _STIRLING:
        rest = rest * inverse * inverse + coefficient
    height = np.log(big / (2 * np.pi)) / 2 - (1 + shift) * np.log(np.where(x > 0, x, 1))
    scaled = big * _log_less(ratio, x / big) - rest * inverse + height
    return np.where(large, np.where(x == 0, -np.inf, scaled), plain)


def _log_less(x: Any, one_more: Any) -> Any:
    """`log(1 + x) - x`, near zero by its power series; `one_more` is `1 + x`."""
    near = np.abs(x) < _NEAR_ONE
    small = np.where(near, x, 0)
    total = np.zeros_like(small)
    for k in reversed(range(2, _TERMS_OF_LOG)):
        total = total * -small - 1 / k
    return np.where(near, total * small * small, np.log(one_more) - x)


def _by_series(a: Any, x: Any, order: int) -> Any:
    """`P = x**a / gamma(a + 1) * (1 + a * sum((-x)**k / (k! (a + k))))`, differentiated."""
    slopes = [-polygamma(n, a + 1) for n in range(order)]
    slopes[0] = slopes[0] + np.log(x)
    head = [np.exp(a * np.log(x) - scipy_special.gammaln(a + 1))]
    head += [head[0] * _of_logarithm(slopes[: n + 1]) for n in range(order)]
    tail = [np.ones_like(a), *(np.zeros_like(a) for _ in range(order))]
    term = np.ones_like(a)
    for k in range(1, _TERMS):
        term = term * -x / k
        # a / (a + k) is 1 - k / (a + k), whose derivatives are simple
        tail[0] = tail[0] + term * a / (a + k)
        power = k / (a + k) ** 2
        for n in range(1, order + 1):
            tail[n] = tail[n] + term * power
            power = power * -(n + 1) / (a + k)
    return sum(comb(order, n) * head[order - n] * tail[n] for n in range(order + 1))


def _by_quadrature(a: Any, x: Any, order: int) -> Any:
    """The integral over the side of `x` that does not hold the mode, by `tanh(sinh)`."""
    below = x <= np.exp(scipy_special.digamma(a + 1) - 1 / a)
    end = _end_of_mass(a, x, below)
    points = np.linspace(-_REACH, _REACH, _NODES)[:, None]
    inner = np.pi / 2 * np.sinh(points)
    share = 1 / (1 + np.exp(-2 * inner))
    weights = np.pi / 4 * np.cosh(points) / np.cosh(inner) ** 2 * (points[1] - points[0])
    total = np.empty_like(x)
    for start in range(0, x.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        t = x[part] + (end[part] - x[part]) * share
        values = _density_slope(a[part], np.where(t > 0, t, 1), order)
        total[part] = np.add.reduce(weights * np.where(t > 0, values, 0), 0)
    return total * (x - end)


def _end_of_mass(a: Any, x: Any, below: Any) -> Any:
    """The number from which on the density is nothing beside that at `x`."""
    low = np.where(below, 0, x)
    high = np.where(below, x, 2 * x + 60 * np.sqrt(a) + 800)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        fall = (a - 1) * np.log(middle / x) - (middle - x)
        is_nothing = fall < _NOTHING
        low = np.where(below == is_nothing, middle, low)
        high = np.where(below == is_nothing, high, middle)
    return np.where(below, low, high)

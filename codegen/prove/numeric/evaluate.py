"""The value of an exact expression at a point, to as many digits as one likes.

`Expr.evalf(subs=...)` walks the whole expression for each call. Here one point is asked about
thousands of expressions that share most of their parts, so every part is remembered.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import sympy

from ..symbolic.gamma_functions import (
    GammaQuantile,
    RegularizedGamma,
    gamma_quantile,
    regularized_gamma,
)

DIGITS = 50
"""Number of digits in which a value must agree before it is accepted."""

GUARD_DIGITS = 15
"""Extra digits carried, so that ordinary cancellation does not eat into `DIGITS`."""


@functools.cache
def context(digits: int) -> Any:
    """An mpmath context of its own: no other precision is changed."""
    made = mpmath.MPContext()
    made.dps = digits + GUARD_DIGITS
    return made


_HUGE = 10_000
"""Binary digits before the point: no function is evaluated at larger numbers, but those in
`_OF_HUGE`."""

_OF_HUGE = (sympy.log, sympy.Abs, sympy.sign, sympy.conjugate, sympy.re, sympy.im)
"""Functions that need no more digits for a larger number, as `log(1 + exp(x))` where x is 37000."""


class Point:
    """Rational values for symbols, and everything evaluated at them so far."""

    def __init__(self, values: Mapping[sympy.Symbol, sympy.Rational], digits: int = DIGITS) -> None:
        self.values = dict(values)
        self.digits = digits
        self._mp = context(digits)
        self._functions = _functions(digits)
        self._known: dict[sympy.Expr, Any] = {}

    def moved(self, values: Mapping[sympy.Symbol, sympy.Rational]) -> Point:
        """The point with some of its values replaced."""
        return Point(self.values | dict(values), self.digits)

    def rounded_to_floats(self) -> Point:
        """The point that floats hold: each value rounded to the nearest."""
        return Point({s: sympy.Rational(float(v)) for s, v in self.values.items()}, self.digits)

    def is_beyond_floats(self) -> bool:
        """Return whether a number that was evaluated here is too large for a float."""
        largest = self._mp.mpf(sys.float_info.max)
        return any(self._mp.isfinite(v) and abs(v) > largest for v in self._known.values())

    def value(self, expr: sympy.Expr) -> Any:
        """The value of `expr`, an mpmath number; nan where it has none."""
        found = self._known.get(expr)
        if found is None:
            try:
                found = self._compute(expr)
            except (ZeroDivisionError, ValueError, OverflowError):
                found = self._mp.nan
            self._known[expr] = found
        return found

    def sign(self, expr: sympy.Expr) -> int:
        """-1, 0 or 1; 0 means zero to all digits carried."""
        value = self.value(expr)
        if isinstance(value, self._mp.mpc):
            value = value.real
        if self._is_zero(expr, value):
            return 0
        return 1 if value > 0 else -1

    def _is_zero(self, expr: sympy.Expr, value: Any) -> bool:
        """Return whether a value is zero to all digits; a product with such a factor is, too."""
        if abs(value) <= self._mp.mpf(10) ** -self.digits * self.scale(expr):
            return True
        if not abs(value) < self._mp.mpf(10) ** -(self.digits // 2):
            return False
        if expr.is_Mul:
            return any(self._is_zero(factor, self.value(factor)) for factor in expr.args)
        if expr.is_Pow and expr.exp.is_positive:
            return self._is_zero(expr.base, self.value(expr.base))
        return expr.is_Add and all(self._is_zero(term, self.value(term)) for term in expr.args)

    def scale(self, expr: sympy.Expr) -> Any:
        """The magnitude of the largest term of a sum, which its rounding errors go by."""
        terms = sympy.Add.make_args(expr)
        sizes = [abs(self.value(term)) for term in terms]
        return max([size for size in sizes if self._mp.isfinite(size)], default=self._mp.mpf(1))

    def magnitude(self, expr: sympy.Expr) -> Any:
        """Return what a value would be if no terms cancelled, which rounding errors go by."""
        if expr.is_Add:
            return self._mp.fsum(map(self.magnitude, expr.args))
        if expr.is_Mul:
            return self._mp.fprod(map(self.magnitude, expr.args))
        if expr.is_Pow and expr.exp.is_Integer and expr.exp.is_positive:
            return self.magnitude(expr.base) ** int(expr.exp)
        return abs(self.value(expr))

    def _compute(self, expr: sympy.Expr) -> Any:
        mp = self._mp
        if expr.is_Symbol:
            exact = self.values[expr]
            return mp.mpf(exact.p) / exact.q
        if expr.is_Rational:
            return mp.mpf(expr.p) / expr.q
        if expr.is_Add:
            tail = self._tail(expr)
            return mp.fsum(self.value(arg) for arg in expr.args) if tail is None else tail
        if expr.is_Mul:
            return mp.fprod(self.value(arg) for arg in expr.args)
        if expr.is_Pow:
            return self._power(expr)
        function = self._functions.get(expr.func)
        if function is None:
            return self._by_sympy(expr)
        arguments = [self.value(arg) for arg in expr.args]
        if expr.func not in _OF_HUGE and any(map(self._is_huge, arguments)):
            if expr.func is sympy.exp and self._mp.re(arguments[0]) < 0:
                return mp.mpf(0)
            raise OverflowError
        return function(*arguments)

    def _is_huge(self, value: Any) -> bool:
        """Return whether functions of a number take more digits than there is memory."""
        return self._mp.isfinite(value) and value != 0 and self._mp.mag(value) > _HUGE

    def _tail(self, expr: sympy.Add) -> Any | None:
        """The value of `1 + erf(x)`, `1 - erf(x)` or `2 - erfc(x)`, or of a multiple of one.

        As a sum it has no digits where its terms cancel. None for other sums.
        """
        number, *others = expr.args
        if len(others) > 1 or not number.is_Rational:
            return None
        factor, function = others[0].as_coeff_Mul()
        if isinstance(function, sympy.erf) and abs(factor) == abs(number):
            is_lower = factor == number
        elif isinstance(function, sympy.erfc) and number == -2 * factor:
            is_lower, number = True, -factor
        else:
            return None
        x = self.value(function.args[0])
        return self.value(number) * self._mp.erfc(-x if is_lower else x)

    def _power(self, expr: sympy.Expr) -> Any:
        base = self.value(expr.base)
        if expr.exp.is_Integer:
            return base ** int(expr.exp)
        if expr.exp == sympy.S.Half:
            return self._mp.sqrt(base)
        exponent = self.value(expr.exp)
        if self._is_huge(exponent):
            raise OverflowError
        return self._mp.power(base, exponent)

    def _by_sympy(self, expr: sympy.Expr) -> Any:
        """Evaluate by sympy what the table below does not know: slower but complete."""
        mp = self._mp
        if expr is sympy.nan or expr is sympy.zoo:
            return mp.nan
        if expr in (sympy.oo, -sympy.oo):
            return mp.inf if expr is sympy.oo else -mp.inf
        exact = expr.evalf(mp.dps, subs=self.values)
        real, imaginary = exact.as_real_imag()
        if not (real.is_number and imaginary.is_number):
            return mp.nan
        if imaginary == 0:
            return mp.mpf(real)
        return mp.mpc(mp.mpf(real), mp.mpf(imaginary))


@functools.cache
def _functions(digits: int) -> dict[Any, Callable[..., Any]]:
    mp = context(digits)
    names = "exp sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc erfinv gamma"
    table: dict[Any, Callable[..., Any]] = {
        getattr(sympy, name): getattr(mp, name) for name in names.split()
    }
    table |= {
        sympy.log: mp.log,
        sympy.Abs: abs,
        sympy.sign: mp.sign,
        sympy.atan2: lambda y, x: mp.atan2(mp.re(y), mp.re(x)),
        sympy.loggamma: mp.loggamma,
        sympy.polygamma: lambda n, x: mp.psi(int(n), x),
        sympy.zeta: lambda s, a=1: mp.zeta(s, a),
        sympy.besseli: mp.besseli,
        sympy.besselj: mp.besselj,
        sympy.bessely: mp.bessely,
        sympy.besselk: mp.besselk,
        sympy.airyai: mp.airyai,
        sympy.airyaiprime: lambda x: mp.airyai(x, derivative=1),
        RegularizedGamma: lambda n, a, x: regularized_gamma(mp, int(n), a, x),
        GammaQuantile: lambda a, share: gamma_quantile(mp, a, share),
        sympy.conjugate: mp.conj,
        sympy.re: mp.re,
        sympy.im: mp.im,
        type(sympy.pi): lambda: +mp.pi,
        type(sympy.E): lambda: +mp.e,
        type(sympy.I): lambda: mp.mpc(0, 1),
    }
    return table


def to_float(value: Any) -> float | complex:
    """An mpmath number as Python's."""
    if isinstance(value, float | int):
        return float(value)
    number = complex(value)
    return number.real if number.imag == 0 else number


def is_nan(value: Any) -> bool:
    """Return whether an mpmath number is nan, in either part."""
    number = to_float(value)
    if isinstance(number, complex):
        return math.isnan(number.real) or math.isnan(number.imag)
    return math.isnan(number)

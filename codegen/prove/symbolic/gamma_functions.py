"""The incomplete gamma function, its derivatives by the shape, and its inverse, for sympy.

sympy's own `lowergamma` has derivatives by the first argument once only.
"""

from __future__ import annotations

from math import comb
from typing import Any

import mpmath
import sympy
from sympy import Expr, Function, exp, log, loggamma


def density(order: Any, a: Any, x: Any) -> Expr:
    """The derivative of some order, by `a`, of the density `x**(a - 1) exp(-x) / gamma(a)`."""
    shape = sympy.Dummy("shape", positive=True)
    found = exp((shape - 1) * log(x) - x - loggamma(shape))
    return sympy.diff(found, shape, int(order)).subs(shape, a)


class RegularizedGamma(Function):  # type: ignore[misc]
    """The derivative of order `n`, by `a`, of `P(a, x)`, the density integrated from 0 to x."""

    nargs = 3
    is_real = True

    def fdiff(self, argindex: int = 1) -> Expr:
        """By `a` the next derivative, by `x` that of the density."""
        order, a, x = self.args
        if argindex == 2:
            return RegularizedGamma(order + 1, a, x)
        if argindex == 3:
            return density(order, a, x)
        raise sympy.function.ArgumentIndexError(self, argindex)

    def _eval_evalf(self, prec: int) -> Expr | None:
        with mpmath.workprec(prec):
            order, a, x = (arg._to_mpmath(prec) for arg in self.args)
            return Expr._from_mpmath(regularized_gamma(mpmath.mp, int(order), a, x), prec)


class GammaQuantile(Function):  # type: ignore[misc]
    """The `x` at which `P(a, x)` is a number between 0 and 1."""

    nargs = 2
    is_positive = True

    def fdiff(self, argindex: int = 1) -> Expr:
        """By the theorem on implicit functions, from the derivatives of `P`."""
        a, _ = self.args
        by_share = 1 / density(0, a, self)
        return by_share if argindex == 2 else -RegularizedGamma(1, a, self) * by_share

    def _eval_evalf(self, prec: int) -> Expr | None:
        with mpmath.workprec(prec):
            a, share = (arg._to_mpmath(prec) for arg in self.args)
            return Expr._from_mpmath(gamma_quantile(mpmath.mp, a, share), prec)


def regularized_gamma(mp: Any, order: int, a: Any, x: Any) -> Any:
    """The number of `RegularizedGamma`: the sum of `x**(a + k) exp(-x) / gamma(a + k + 1)` over
    `k`, whose terms are differentiated one by one.
    """
    if not order:
        return mp.gammainc(a, 0, x, regularized=True)
    with mp.workprec(mp.prec + 3 * int(x) + 60):
        power = mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1))
        slopes = [-mp.psi(n, a + 1) for n in range(order)]
        slopes[0] += mp.log(x)
        total, shape, term = mp.zero, a, mp.one
        while shape < a + x or abs(term) > mp.eps * abs(total):
            term = power * complete_bell(slopes)
            total += term
            shape += 1
            power *= x / shape
            for n in range(order):
                slopes[n] -= (-1) ** n * mp.factorial(n) / shape ** (n + 1)
    return +total


def complete_bell(slopes: list[Any]) -> Any:
    """The derivative of `exp(f)` over `exp(f)`, from the derivatives of `f`."""
    found: list[Any] = [1]
    for n in range(len(slopes)):
        found.append(sum(comb(n, i) * found[n - i] * slopes[i] for i in range(n + 1)))
    return found[-1]


def gamma_quantile(mp: Any, a: Any, share: Any) -> Any:
    """The number of `GammaQuantile`, by bisection and Newton's method."""
    low, high = mp.zero, a + 1
    while mp.gammainc(a, 0, high, regularized=True) < share:
        low, high = high, 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        below = mp.gammainc(a, 0, middle, regularized=True) < share
        low, high = (middle, high) if below else (low, middle)
    x = (low + high) / 2
    for _ in range(8):
        slope = mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))
        x -= (mp.gammainc(a, 0, x, regularized=True) - share) / slope
    return x

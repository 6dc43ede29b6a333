"""Find where comparisons change as one symbol moves, and points on all sides of that."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise
from typing import Any

import sympy
from mpmath.libmp import NoConvergence

from ..numeric.evaluate import Point, to_float

_LADDER = (1e-50, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 1e5)
_GRID = (*(-x for x in reversed(_LADDER)), 0.0, *_LADDER)

_BISECTIONS = 60
_NARROWEST = 1e-14
"""Zeros closer than this are taken for one that two comparisons share."""

_MAX_DEGREE = 4


def between_borders(
    sites: Sequence[sympy.Expr],
    symbol: sympy.Symbol,
    point: Point,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> list[sympy.Rational]:
    """A short number in each interval between zeros of `sites`; the other symbols stand still."""
    moving = [site for site in sites if symbol in site.free_symbols]
    zeros = sorted({zero for site in moving for zero in _zeros(site, symbol, point)})
    if not zeros:
        return []
    first = max(bounds[0], zeros[0] - max(1.0, abs(zeros[0])))
    last = min(bounds[1], zeros[-1] + max(1.0, abs(zeros[-1])))
    ends = [first, *zeros, last]
    return [
        _short_number_between(low, high)
        for low, high in pairwise(ends)
        if high - low > _NARROWEST * max(abs(low), abs(high))
    ]


def at_border(site: sympy.Expr, point: Point) -> Iterator[Point]:
    """The point moved to where `site` is zero, where that can be said exactly.

    It is moved along one symbol; for the size of a complex number, which is zero where both of its
    parts are, along as many as it takes.
    """
    if site.is_Pow and site.exp == sympy.Rational(1, 2):
        yield from _at_zero_of_squares(site.base, point)
        return
    for symbol in sorted(site.free_symbols, key=str):
        others = {s: point.values[s] for s in site.free_symbols if s != symbol}
        alone = site.subs(others)
        if alone.is_polynomial(symbol) and sympy.degree(alone, symbol) == 1:
            for border in sympy.solve(alone, symbol):  # none if the symbol has the other sign
                if border.is_Rational:
                    yield point.moved({symbol: border})


def _at_zero_of_squares(total: sympy.Expr, point: Point) -> Iterator[Point]:
    """Find the zero of a sum of squares of linear terms: there it is least."""
    symbols = sorted(total.free_symbols, key=str)
    if not total.is_polynomial(*symbols) or sympy.Poly(total, *symbols).total_degree() != 2:
        return
    for found in sympy.solve([total.diff(s) for s in symbols], symbols, dict=True):
        if total.subs(found) == 0 and all(value.is_Rational for value in found.values()):
            yield point.moved(found)


def _zeros(site: sympy.Expr, symbol: sympy.Symbol, point: Point) -> list[float]:
    others = {s: point.values[s] for s in site.free_symbols if s != symbol}
    alone = site.subs(others)
    if alone.is_polynomial(symbol) and sympy.degree(alone, symbol) <= _MAX_DEGREE:
        with suppress(NoConvergence):  # of roots that lie close to each other
            roots = sympy.Poly(alone, symbol).nroots(n=20, maxsteps=200)
            return [float(root) for root in roots if root.is_real]
    return [
        _bisected(site, symbol, point, low, high)
        for low, high in pairwise(_GRID)
        if _sign(site, symbol, point, low) * _sign(site, symbol, point, high) < 0
    ]


def _bisected(
    site: sympy.Expr, symbol: sympy.Symbol, point: Point, low: float, high: float
) -> float:
    """A zero between two places of opposite sign."""
    below = _sign(site, symbol, point, low)
    for _ in range(_BISECTIONS):
        middle = _between(low, high)
        if _sign(site, symbol, point, middle) == below:
            low = middle
        else:
            high = middle
    return low


def _between(low: float, high: float) -> float:
    """Half way, in orders of magnitude where there are many between."""
    if low * high > 0 and not 0.25 < low / high < 4:
        return math.copysign(math.sqrt(abs(low)) * math.sqrt(abs(high)), low)
    return (low + high) / 2


def _sign(site: sympy.Expr, symbol: sympy.Symbol, point: Point, value: float) -> int:
    number: Any = to_float(point.moved({symbol: sympy.Rational(value)}).value(site))
    if isinstance(number, complex) or number != number:
        return 0
    return (number > 0) - (number < 0)


def _short_number_between(low: float, high: float) -> sympy.Rational:
    """A fraction with a small denominator well inside the interval."""
    margin = (high - low) / 8
    middle = Fraction((low + high) / 2)
    denominator = 1
    while not low + margin < (short := middle.limit_denominator(denominator)) < high - margin:
        denominator *= 2
    return sympy.Rational(short.numerator, short.denominator)

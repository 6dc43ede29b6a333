"""The same refutation at a simpler point: few symbols, small numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

import sympy
from sympy import Rational, S

from ..identities.identity import Identity
from ..numeric.evaluate import Point, is_nan
from ..zero.is_zero import Region

_SIMPLE = (S.One, Rational(2), Rational(1, 2), Rational(-1), Rational(3), Rational(1, 3))
"""Values tried for each symbol, the simplest first."""

_VISIBLE = 1e-12
"""A difference that an author can see without printing 50 digits."""

_MOST_TRIES = 60


def smallest(
    identity: Identity, point: Point, region: Region, inputs: Collection[sympy.Symbol]
) -> tuple[Identity, Point]:
    """The identity without the cotangents and tangents it fails without, and a simple point.

    The point stays in the chamber. What cannot be made simpler stays as it is.
    """
    symbols = sorted(identity.got.free_symbols | identity.expected.free_symbols, key=str)
    directions = [symbol for symbol in symbols if symbol not in inputs]
    for symbol in directions:
        without = _without(identity, symbol)
        if _differs(without, point):
            identity = without
    left = identity.got.free_symbols | identity.expected.free_symbols
    tries = 0
    for symbol in (s for s in symbols if s in left):
        for value in _SIMPLE:
            tries += 1
            if tries > _MOST_TRIES:
                return identity, point
            moved = point.moved({symbol: value})
            if _differs(identity, moved) and all(d.holds(moved) for d in region.decisions):
                point = moved
                break
    return identity, point


def _without(identity: Identity, symbol: sympy.Symbol) -> Identity:
    zero = {symbol: S.Zero}
    got, expected = identity.got.xreplace(zero), identity.expected.xreplace(zero)
    return dataclasses.replace(identity, got=got, expected=expected)


def _differs(identity: Identity, point: Point) -> bool:
    got, expected = point.value(identity.got), point.value(identity.expected)
    if is_nan(got) or is_nan(expected):
        return False
    return bool(abs(got - expected) > _VISIBLE * max(abs(got), abs(expected)))

"""Is a difference zero? Cheap tests first; every answer says how far it can be trusted."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from typing import Any

import sympy
from sympy import Expr
from sympy.functions.elementary.hyperbolic import HyperbolicFunction

from ..deadline import TimeUp, time_limit
from ..numeric.evaluate import DIGITS, Point, is_nan
from ..report.verdict import Status
from ..symbolic.decisions import Decision, ProofError
from .rational import is_rationally_zero
from .residues import have_equal_residues

SECONDS = 5.0
"""Time for one difference before only numbers can decide it."""

CERTIFYING_POINTS = 20

UNSEEN = -100
"""The exponential of less is zero to all digits."""

MOST_AT_NUMBERS = 100
"""Number of points made of the numbers of one difference, the largest numbers first."""

_BESIDE = (sympy.Integer(0), sympy.Rational(1, 4), sympy.Rational(-1, 4))
"""Offset from these numbers: a number may be the border of the chamber."""

MANY_PARTS = 200
"""Longer expressions are compared by residues first: polynomials in many kernels take long."""

_ROUNDING = float(sympy.Float(10) ** -DIGITS)


@dataclass(frozen=True, slots=True)
class Region:
    """A witness, and the decisions that a point must share to be in the same chamber."""

    witness: Point
    decisions: tuple[Decision, ...]

    def points(self, rng: random.Random) -> Iterator[Point]:
        """Points of the chamber, without end; each closer to the witness until it is inside."""
        while True:
            reach = sympy.Rational(1, 2)
            for _ in range(40):
                moved = {
                    symbol: value * (1 + reach * sympy.Rational(rng.randint(-97, 97), 97))
                    for symbol, value in self.witness.values.items()
                }
                point = self.witness.moved(moved)
                if all(decision.holds(point) for decision in self.decisions):
                    break
                reach /= 2
            else:
                point = self.witness
            yield point


class How(StrEnum):
    """The ways in which an identity was decided."""

    EQUAL = "equal"
    """Both sides are the same expression."""
    RATIONAL = "rational"
    """The numerator of the difference vanishes as a polynomial."""
    RESIDUES = "residues"
    """The difference vanishes, unless two random primes both divide its value at a random point."""
    REWRITTEN = "rewritten"
    """The difference vanishes, or sympy says so, after functions were rewritten."""
    NUMBERS = "numbers"
    """The values agree to all digits at many points."""
    REFUTED = "refuted"
    """They differ at one."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The status of one identity, how it was found, and the point that refutes a refuted one."""

    status: Status
    how: How
    point: Point | None = None


def compare(got: Expr, expected: Expr, region: Region, *, seconds: float = SECONDS) -> Answer:
    """Return whether two expressions are equal on the chamber of `region`.

    Refuted means that they differ at a point, by more than rounding to 50 digits can explain.
    """
    if got == expected:
        return Answer(Status.PROVED, How.EQUAL)
    if _is_long(got, expected) and have_equal_residues(got, expected):
        if differ(got, expected, region.witness):  # drawn residues are no secret
            return Answer(Status.REFUTED, How.REFUTED, region.witness)
        return Answer(Status.PROVED, How.RESIDUES)
    difference = _in_exponentials(got - expected)
    if difference == 0:
        return Answer(Status.PROVED, How.EQUAL)
    try:
        with time_limit(seconds):
            if is_rationally_zero(difference):
                return Answer(Status.PROVED, How.RATIONAL)
    except TimeUp:
        pass
    if differ(got, expected, region.witness):
        return Answer(Status.REFUTED, How.REFUTED, region.witness)
    return _compare_hard(got, expected, region, seconds)


def _is_long(*sides: Expr) -> bool:
    """Return whether expressions have too many parts for polynomials."""
    parts = chain.from_iterable(map(sympy.preorder_traversal, sides))
    return next(islice(parts, MANY_PARTS, None), None) is not None


def _compare_hard(got: Expr, expected: Expr, region: Region, seconds: float) -> Answer:
    """Equal at the witness, but not seen to be: search elsewhere, then rewrite."""
    points = region.points(random.Random(0))
    has_unseen = _has_unseen(got - expected, region)
    at_numbers = _at_numbers(got - expected, region, _BESIDE if has_unseen else _BESIDE[:1])
    for point in chain(islice(points, 3), at_numbers if has_unseen else ()):
        if differ(got, expected, point):
            return Answer(Status.REFUTED, How.REFUTED, point)
    try:
        with time_limit(seconds):
            if _zero_after_rewriting(_in_exponentials(got - expected), region):
                return Answer(Status.PROVED, How.REWRITTEN)
    except (TimeUp, ValueError):
        pass  # sympy sorts by texts, and Python writes no number of thousands of digits
    few_at_numbers = islice(at_numbers, CERTIFYING_POINTS)
    for point in chain(few_at_numbers, islice(points, CERTIFYING_POINTS)):
        if differ(got, expected, point):
            return Answer(Status.REFUTED, How.REFUTED, point)
    return Answer(Status.CERTIFIED, How.NUMBERS)


def _has_unseen(difference: Expr, region: Region) -> bool:
    """Return whether it has exponentials that are too small to be seen at the witness."""
    exponents = (found.args[0] for found in difference.atoms(sympy.exp))
    return any(region.witness.value(exponent).real <= UNSEEN for exponent in exponents)


def _at_numbers(difference: Expr, region: Region, beside: tuple[Expr, ...]) -> Iterator[Point]:
    """Points at the numbers of a difference, and `beside`: it may be zero to all digits elsewhere.

    `exp(-10**6 * (x - 7)**2)` is one at 7.
    """
    numbers = sorted(difference.atoms(sympy.Rational), key=lambda number: (-abs(number), number))
    symbols = sorted(difference.free_symbols & region.witness.values.keys(), key=str)
    moves = [symbols, *([symbol] for symbol in symbols)]
    places = (
        (moved, sign * number + move)
        for number in numbers
        for moved in moves
        for sign in (1, -1)
        for move in beside
    )
    for moved, number in islice(places, MOST_AT_NUMBERS):
        point = region.witness.moved(dict.fromkeys(moved, number))
        if all(decision.holds(point) for decision in region.decisions):
            yield point


def differ(got: Expr, expected: Expr, point: Point) -> bool:
    """Return whether the values differ. Raises ProofError where there is no expected value.

    Asked again with more digits where rounding could be to blame.
    """
    for digits in (DIGITS, 4 * DIGITS):
        if digits != point.digits:
            point = Point(point.values, digits)
        left, right = point.value(got), point.value(expected)
        if is_nan(right):
            raise ProofError(f"the derivative is not defined at the point: {expected}")
        if is_nan(left):
            return True
        if not are_far_apart(left, right):
            return False
    return True


def are_far_apart(left: Any, right: Any) -> bool:
    """Return whether two values differ by more than rounding to 50 digits can explain."""
    return bool(left != right and abs(left - right) > max(abs(left), abs(right), 1) * _ROUNDING)


def _zero_after_rewriting(difference: Expr, region: Region) -> bool:
    if _is_log_of_one(difference):
        return True
    rewrites: tuple[Callable[[Expr], Expr], ...] = (
        _with_logs_of_quotients,
        lambda e: e.rewrite(sympy.exp),
        lambda e: _with_factored_roots(_counted_from_bounds(e, region)),
        lambda e: sympy.expand_log(e, force=False),
        sympy.expand_func,
        sympy.gammasimp,
        lambda e: sympy.logcombine(sympy.expand(e), force=False),
        lambda e: sympy.expand_log(e.rewrite(sympy.exp), force=False),
        lambda e: sympy.powdenest(sympy.powsimp(e)),
    )
    for rewrite in rewrites:
        rewritten = rewrite(difference)
        if rewritten != difference and (rewritten == 0 or is_rationally_zero(rewritten)):
            return True
    return bool(sympy.simplify(difference) == 0)


def _in_exponentials(expr: Expr) -> Expr:
    """The expression without hyperbolic functions, if it has exponentials besides."""
    if not (expr.has(sympy.exp) and expr.has(HyperbolicFunction)):
        return expr
    return expr.replace(
        lambda part: isinstance(part, HyperbolicFunction), lambda part: part.rewrite(sympy.exp)
    )


def _is_log_of_one(difference: Expr) -> bool:
    """Return whether a real number with logarithms in it is zero because its exponential is one."""
    if not (difference.has(sympy.log) and difference.is_real):
        return False
    return is_rationally_zero(sympy.exp(sympy.expand_mul(difference)) - 1)


def _with_logs_of_quotients(expr: Expr) -> Expr:
    """`log(1 + exp(-x))` as `log(exp(x) + 1) - x`: of two such logarithms one is left."""
    return expr.replace(
        lambda part: isinstance(part, sympy.log),
        lambda part: sympy.expand_log(sympy.log(sympy.together(part.args[0])), force=False),
    )


def _counted_from_bounds(expr: Expr, region: Region) -> Expr:
    """With `1 + u`, `u` positive, for a symbol that the domain keeps above one; and so on."""
    shifted = {}
    for decision in region.decisions:
        bound = decision.difference if decision.positive else -decision.difference
        for symbol in bound.free_symbols:
            for sign in (1, -1):
                rest = sign * symbol - bound
                if rest.is_number:
                    above = sympy.Dummy(symbol.name, positive=True)
                    shifted[symbol] = sign * (rest + above)
    return expr.xreplace(shifted)


def _with_factored_roots(expr: Expr) -> Expr:
    """Roots of products of positive factors as products of roots."""
    return expr.replace(
        lambda part: part.is_Pow and part.exp.is_Rational and not part.exp.is_Integer,
        lambda part: sympy.factor(part.base) ** part.exp,
    )

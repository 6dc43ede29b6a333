"""The decisions of a run of an op, and so the region on which its proof holds.

An expression has no order; `a < b` is answered at the *witness*, the point the run was given, and
written down. The points at which every decision comes out the same form a *chamber*.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import sympy

from ..numeric.evaluate import Point, is_nan
from .complex_numbers import is_complex


class ProofError(RuntimeError):
    """The op did something that cannot be followed exactly; nothing is guessed."""


@dataclass(frozen=True, slots=True)
class Decision:
    """`difference > 0` (or `< 0`) at the witness.

    `branches` tells whether the other outcome may lead to other code: a comparison does, the
    bounds noted by `floor` do not.
    """

    difference: sympy.Expr
    positive: bool
    branches: bool

    def holds(self, point: Point) -> bool:
        """Return whether another point comes out the same."""
        sign = point.sign(self.difference)
        return sign > 0 if self.positive else sign < 0


class Trace:
    """The decisions of one run, each once, in the order in which they were first made."""

    def __init__(self, point: Point) -> None:
        self.point = point
        self.decisions: dict[sympy.Expr, Decision] = {}
        self.is_on_border = False
        """True if the two sides of a comparison were equal: neither side is decided there."""

    def sign(self, difference: sympy.Expr, *, branches: bool = True) -> int:
        """The sign of an expression at the witness; 0 only if it is zero to all digits."""
        if is_complex(difference):
            raise ProofError(f"compares {difference}, and complex numbers have no order")
        if difference.is_number:
            return _sign_of_number(difference, self.point)
        flipped = difference.could_extract_minus_sign()
        key = -difference if flipped else difference
        if key.is_Symbol and (key.is_positive or key.is_negative):
            return 1 if bool(key.is_positive) is not flipped else -1
        known = self.decisions.get(key)
        if known is None or (branches and not known.branches):
            sign = self._decide(key)
            if sign == 0:
                self.is_on_border = True
                return 0
            known = self.decisions[key] = Decision(key, sign > 0, branches)
        sign = 1 if known.positive else -1
        return -sign if flipped else sign

    def _decide(self, difference: sympy.Expr) -> int:
        if is_nan(self.point.value(difference)):
            raise ProofError(f"compares {difference}, which is undefined at the point")
        return self.point.sign(difference)


def _sign_of_number(number: sympy.Expr, point: Point) -> int:
    if is_nan(point.value(number)):
        raise ProofError(f"compares {number}")
    return point.sign(number)


_traces: list[Trace] = []


@contextmanager
def tracing(point: Point) -> Iterator[Trace]:
    """Decide comparisons at `point` within the block, and log them."""
    trace = Trace(point)
    _traces.append(trace)
    try:
        yield trace
    finally:
        _traces.pop()


def sign(difference: sympy.Expr, *, branches: bool = True) -> int:
    """The sign of an expression in the current run."""
    if not _traces:
        if difference.is_number:
            return _sign_of_number(difference, Point({}))
        raise ProofError("a comparison of symbols outside of a run")
    return _traces[-1].sign(difference, branches=branches)


def value(expr: sympy.Expr) -> float | complex:
    """The value at the witness of the current run."""
    from ..numeric.evaluate import to_float

    return to_float((_traces[-1].point if _traces else Point({})).value(expr))

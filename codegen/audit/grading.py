"""Grades of a wrong derivative: structural, a convention, at a boundary, or numerical."""

from __future__ import annotations

import math
from enum import StrEnum

from .differences import Slopes
from .questions import EXTREME, GENERIC, TRIANGLE


class Grade(StrEnum):
    """The kinds of findings, the worst first."""

    STRUCTURAL = "structural"
    """The formula is wrong: at usual points, or in a mode."""
    BOUNDARY = "boundary"
    """Wrong at isolated points where the function is smooth, or outside of what a kink allows."""
    NUMERICAL = "numerical"
    """The formula is right, and overflows or cancels where the result is a float."""
    CONVENTION = "convention"
    """A choice where there is no derivative, or of the half of a matrix that moves."""
    MISSING = "missing"
    """No derivative is declared: reverse mode refuses, and other modes answer zero."""
    UNCONFIRMED = "unconfirmed"
    """Not what the rules of gradspec say, and differences do not decide: no finding."""


WRONG = 1e-6
"""The relative error of a wrong answer to a question."""

LOST = 1e-3
"""The relative error of a result that has lost its digits."""


def is_wrong(found: float, exact: float, scale: float, tolerance: float) -> bool:
    """Return whether an answer differs from the exact one, which is a finite number."""
    if not math.isfinite(found):
        return True
    return abs(found - exact) > tolerance * max(scale, abs(exact))


def grade(found: float, exact: float, kind: str, slopes: Slopes) -> Grade:
    """Grade a wrong answer by what differences of the library's own function say.

    `exact` is nan at a kink of a definition.
    """
    if kind == EXTREME:
        return Grade.NUMERICAL
    if kind == TRIANGLE:
        return Grade.CONVENTION
    if slopes.is_smooth:
        assert slopes.middle is not None
        holds = math.isnan(exact) or slopes.are_close(slopes.middle, exact)
        differs = not math.isfinite(found) or not slopes.are_close(found, slopes.middle)
        if holds and differs:
            return Grade.STRUCTURAL if kind == GENERIC else Grade.BOUNDARY
        return Grade.UNCONFIRMED
    if kind == GENERIC or slopes.left is None or slopes.right is None:
        return Grade.UNCONFIRMED
    if math.isnan(found):
        return Grade.CONVENTION
    low, high = sorted((slopes.left, slopes.right))
    slack = 5e-3 * max(1.0, abs(low), abs(high))
    return Grade.CONVENTION if low - slack <= found <= high + slack else Grade.BOUNDARY

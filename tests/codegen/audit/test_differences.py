"""Slopes by differences, and grades that rest on them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradspec_codegen.audit.differences import Slopes, slopes
from gradspec_codegen.audit.grading import Grade, grade, is_wrong
from gradspec_codegen.audit.questions import EXTREME, GENERIC, SPECIAL, TRIANGLE


@pytest.mark.parametrize("at", [0.0, 1.25, -3.5])
def test_slopes_of_a_smooth_function(at: float) -> None:
    first, second = slopes(math.sin, at, 1), slopes(math.sin, at, 2)
    assert first.is_smooth
    assert second.is_smooth
    assert first.middle == pytest.approx(math.cos(at), abs=1e-8)
    assert second.middle == pytest.approx(-math.sin(at), abs=1e-6)


def test_both_slopes_at_a_kink() -> None:
    found = slopes(abs, 0.0, 1)
    assert found.left == pytest.approx(-1)
    assert found.right == pytest.approx(1)
    assert not found.is_smooth


def test_a_bend_from_both_sides() -> None:
    found = slopes(lambda x: x * x if x > 0 else 0.0, 0.0, 2)
    assert found.left == pytest.approx(0, abs=1e-9)
    assert found.right == pytest.approx(2)


def test_differences_that_do_not_settle_say_nothing() -> None:
    found = slopes(lambda x: math.sin(1000 * x), 0.1, 1)
    assert found.middle is None
    assert not found.is_smooth


def test_no_slope_where_a_function_ends() -> None:
    with np.errstate(invalid="ignore"):
        assert slopes(lambda x: float(np.sqrt(x)), 0.0, 1).left is None


SMOOTH = Slopes(2.0, 2.0, 2.0)
KINK = Slopes(-1.0, 1.0, 0.0)
UNKNOWN = Slopes(None, None, None)


@pytest.mark.parametrize(
    ("found", "exact", "kind", "around", "expected"),
    [
        (3.0, 2.0, GENERIC, SMOOTH, Grade.STRUCTURAL),
        (math.nan, 2.0, GENERIC, SMOOTH, Grade.STRUCTURAL),
        (3.0, 3.5, GENERIC, SMOOTH, Grade.UNCONFIRMED),
        (2.0, 3.0, GENERIC, SMOOTH, Grade.UNCONFIRMED),
        (3.0, 2.0, GENERIC, UNKNOWN, Grade.UNCONFIRMED),
        (3.0, 2.0, SPECIAL, SMOOTH, Grade.BOUNDARY),
        (0.5, math.nan, SPECIAL, KINK, Grade.CONVENTION),
        (math.nan, 0.0, SPECIAL, KINK, Grade.CONVENTION),
        (2.0, math.nan, SPECIAL, KINK, Grade.BOUNDARY),
        (3.0, 2.0, SPECIAL, UNKNOWN, Grade.UNCONFIRMED),
        (0.0, 1e-18, EXTREME, UNKNOWN, Grade.NUMERICAL),
        (3.0, 2.0, TRIANGLE, SMOOTH, Grade.CONVENTION),
    ],
)
def test_grades(found: float, exact: float, kind: str, around: Slopes, expected: Grade) -> None:
    assert grade(found, exact, kind, around) is expected


def test_what_is_wrong() -> None:
    assert is_wrong(math.inf, 1.0, 1.0, 1e-6)
    assert is_wrong(1.1, 1.0, 1.0, 1e-6)
    assert not is_wrong(1.0 + 1e-8, 1.0, 1.0, 1e-6)
    assert not is_wrong(1e-8, 0.0, 1.0, 1e-6)

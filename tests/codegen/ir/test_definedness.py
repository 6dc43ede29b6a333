"""Tests that are false where they have no value."""

from __future__ import annotations

import pytest

from gradspec_codegen.ir.definedness import Known, defined
from gradspec_codegen.ir.parse import parse
from gradspec_codegen.render.to_text import formula_text

OPTIONAL = {"weight", "alpha"}


def conditions(*texts: str) -> list[str]:
    """Each condition with what it needs, after those before it."""
    known, found = Known(), []
    for text in texts:
        expression = parse(text).expression
        assert expression is not None
        test, known = defined(expression, OPTIONAL, known)
        found.append(formula_text(test))
    return found


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("x.ndim == 2", "x.ndim == 2"),
        ("x.shape == y.shape", "x.shape == y.shape"),
        ("x.shape[1:] == y.shape[:-1]", "x.shape[1:] == y.shape[:-1]"),
        ("x.shape[1] == 3", "x.ndim >= 2 and x.shape[1] == 3"),
        ("x.shape[-2] == 3", "x.ndim >= 2 and x.shape[-2] == 3"),
        ("x.shape[0] == x.shape[2]", "x.ndim >= 3 and x.shape[0] == x.shape[2]"),
        ("x.shape[dim] > 1", "dim >= -x.ndim and dim < x.ndim and x.shape[dim] > 1"),
        ("xs[1].shape[0] == 3", "len(xs) >= 2 and xs[1].ndim >= 1 and xs[1].shape[0] == 3"),
        ("alpha > 0", "alpha is not None and alpha > 0"),
        ("alpha == 2", "alpha == 2"),
        ("alpha in (1, None)", "alpha in (1, None)"),
        ("weight is None", "weight is None"),
        ("weight.ndim == 1", "weight is not None and weight.ndim == 1"),
        ("n % groups == 0", "groups != 0 and n % groups == 0"),
        ("n % 2 == 0", "n % 2 == 0"),
        ("not x.shape[0] == 3", "x.ndim >= 1 and not x.shape[0] == 3"),
    ],
)
def test_a_test_is_preceded_by_what_it_needs(text: str, complete: str) -> None:
    assert conditions(text) == [complete]


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        (
            "weight is None or weight.shape[0] == 3",
            "weight is None or (weight.ndim >= 1 and weight.shape[0] == 3)",
        ),
        ("x.ndim != 2 or x.shape[1] == 3", "x.ndim != 2 or x.shape[1] == 3"),
        ("x.ndim < 2 or x.shape[1] == 3", "x.ndim < 2 or x.shape[1] == 3"),
        ("x.ndim > 1 and x.shape[1] == 3", "x.ndim > 1 and x.shape[1] == 3"),
        ("len(x.shape) >= 2 and x.shape[1] == 3", "len(x.shape) >= 2 and x.shape[1] == 3"),
        (
            "not (x.ndim == 1 and x.shape[0] == 3)",
            "not x.ndim == 1 or not x.shape[0] == 3",
        ),
        (
            "not (weight is None or x.ndim > 2)",
            "not weight is None and not x.ndim > 2",
        ),
    ],
)
def test_what_is_known_already_is_not_asked_again(text: str, complete: str) -> None:
    assert conditions(text) == [complete]


def test_a_condition_knows_those_before_it() -> None:
    assert conditions("x.ndim == 2", "weight is not None", "x.shape[1] == weight.shape[0]") == [
        "x.ndim == 2",
        "weight is not None",
        "weight.ndim >= 1 and x.shape[1] == weight.shape[0]",
    ]
    assert conditions("x.shape[2] == 3", "x.shape[1] == 3", "x.shape[3] == 3") == [
        "x.ndim >= 3 and x.shape[2] == 3",
        "x.shape[1] == 3",
        "x.ndim >= 4 and x.shape[3] == 3",
    ]


def test_what_one_side_of_an_or_says_is_not_known_after_it() -> None:
    assert conditions("x.ndim == 2 or y.ndim == 2", "x.shape[1] == 3")[1] == (
        "x.ndim >= 2 and x.shape[1] == 3"
    )
    assert conditions("x.ndim != 2", "x.shape[1] == 3")[1] == "x.ndim >= 2 and x.shape[1] == 3"

"""The table of rewrites: every entry matches what it says, and changes no value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import pytest
import sympy

from gradspec_codegen.ir import nodes as ir
from gradspec_codegen.ir.parse import parse
from gradspec_codegen.lint.definitions import FUNCTIONS
from gradspec_codegen.lint.rewrites import Rewrite, letters, rewrites, rewritten
from gradspec_codegen.render.to_sympy import SympyReader
from gradspec_codegen.render.to_text import formula_text
from tests.codegen.proving import own_table

POINTS = ({"X": 7, "Y": 5, "Z": 3}, {"X": 2, "Y": 9, "Z": 4}, {"X": 4, "Y": 1, "Z": 7})
"""In tenths: inside the domains of all entries."""


def value(expr: ir.Expr, at: Mapping[str, int]) -> Any:
    names = {name: sympy.Rational(number, 10) for name, number in at.items()}
    found = SympyReader(own_table(), FUNCTIONS).expr(expr, names)
    return mpmath.mpf(str(sympy.N(found, 60)))


def only(expr: str) -> ir.Expr:
    found = parse(expr).expression
    assert found is not None
    return found


def first(expr: str) -> str:
    return formula_text(next(rewritten(only(expr), rewrites()))[0])


@pytest.mark.parametrize("rewrite", rewrites(), ids=lambda r: r.text)
def test_both_forms_have_the_same_value(rewrite: Rewrite) -> None:
    signs = {"log(1 - exp(X)) → where": -1}
    sign = next((s for text, s in signs.items() if rewrite.text.startswith(text)), 1)
    for point in POINTS:
        at = {name: sign * number for name, number in point.items()}
        with mpmath.workdps(60):
            before, after = value(rewrite.before, at), value(rewrite.after, at)
            assert abs(before - after) <= mpmath.mpf("1e-48") * (1 + abs(before))


@pytest.mark.parametrize("rewrite", rewrites(), ids=lambda r: r.text)
def test_an_entry_matches_its_own_form_and_says_where_it_is_from(rewrite: Rewrite) -> None:
    assert rewrite.at(rewrite.before) == rewrite.after
    assert letters(rewrite.after) <= letters(rewrite.before)
    assert rewrite.source.rpartition(" ")[2].isdecimal()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("np.log(np.exp(self) + 1)", "-log_sigmoid(-self)"),
        ("grad * (1 - tanh(self) * tanh(self))", "_tanh_backward(grad, self)"),
        ("np.exp(2 * self) - 1.0", "expm1(2 * self)"),
        ("3 + np.sqrt(self * self + other ** 2)", "3 + hypot(self, other)"),
        ("1 / (1 + exp(-(self * 2)))", "sigmoid(self * 2)"),
        ("1 / (1 + np.exp(-self / 3))", "sigmoid(self / 3)"),
        ("np.sin(3 * self) / (3 * self)", "sinc(3 * self / pi)"),
        ("-self * log(self)", "special_entr(self)"),
    ],
)
def test_other_spellings_match_too(before: str, after: str) -> None:
    assert first(before) == after


def test_letters_stand_for_one_expression_each() -> None:
    assert not [
        found
        for found, _ in rewritten(only("log(self + 1) - log(other)"), rewrites())
        if formula_text(found).startswith("log1p(1 / ")
    ]

"""Numbers of dimensions that a definition itself asks for, and tests that read names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import gradspec as gs
from gradspec_codegen.differentiate.implied import implied_ranks
from tests.codegen.differentiate.test_derive import filled, rules_of
from tests.codegen.differentiate.test_parts import entry

RANKS = {
    "A @ mv(A, x)": {"A": 2, "x": 1},
    "linalg_solve(t(A) @ A + diag(ones_like(A[0])), t(A) @ x)": {"A": 2},
    "logdet(t(A)) + sum(x)": {"A": 2},
    "logdet(A) if x.ndim == 1 else trace(A)": {},
    "dot(x, x) + sum(A)": {"x": 1},
}


@pytest.mark.parametrize("forward", RANKS)
def test_ops_that_take_no_others_fix_dimensions(forward: str, tmp_path: Path) -> None:
    text = entry("made(Tensor A, Tensor x) -> Tensor", f"return {forward}")
    assert implied_ranks(filled(text, tmp_path)) == RANKS[forward]


@pytest.mark.parametrize(
    "call",
    [
        lambda: gs.mv(gs.ones(2), gs.ones(2)),
        lambda: gs.t(gs.ones(2, 2, 2)),
        lambda: gs.dot(gs.ones(2, 2), gs.ones(2)),
        lambda: gs.diag(gs.ones(2, 2, 2)),
        lambda: gs.trace(gs.ones(2, 2, 2)),
        lambda: gs.logdet(gs.ones(2)),
    ],
)
def test_these_ops_refuse_others(call: Callable[[], object]) -> None:
    with pytest.raises((RuntimeError, gs.linalg.LinAlgError)):
        call()


def test_a_condition_reads_the_name_of_what_is_computed(tmp_path: Path) -> None:
    """A product is not computed again for the number of its dimensions."""
    text = entry(
        "fit(Tensor A, Tensor b) -> Tensor", "y = t(A) @ b\nreturn linalg_solve(t(A) @ A, y)"
    )
    tests = [line for line in rules_of(filled(text, tmp_path))["A"].splitlines() if "if " in line]
    assert tests
    assert not [test for test in tests if "@" in test.replace("t_value @ b", "")]

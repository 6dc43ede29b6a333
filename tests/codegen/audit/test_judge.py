"""The grades of planted mistakes, and the programs that show them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradspec_codegen.audit.findings import Finding, Suspicion
from gradspec_codegen.audit.grading import Grade
from gradspec_codegen.audit.judge import Judged, function_name, judge, shown
from gradspec_codegen.audit.libraries import Library
from gradspec_codegen.audit.questions import EXTREME, GENERIC, SPECIAL, Asked, Sweep
from gradspec_codegen.audit.session import MOST_LINES, Session, printed
from gradspec_codegen.spec.model import OpSpec
from gradspec_codegen.targets.frameworks import Spelling
from tests.ops.cases import TABLE

PLANTED = Library(
    name="planted",
    title="Planted",
    prelude=("from tests.codegen.audit import planted",),
    array="planted.np.array({data})",
    dtype="planted.np.{name}",
    total="({weights} * {out}).sum()",
    complex_total="({weights} * {out}).sum()",
    ops={
        "sin": Spelling("planted.sine({self})"),
        "cos": Spelling("planted.cosine({self})"),
        "exp": Spelling("planted.exponential({self})"),
        "atan": Spelling("planted.cube_over_square({self})"),
        "abs": Spelling("planted.magnitude({self})"),
        "sgn": Spelling("planted.steep_magnitude({self})"),
        "sigmoid": Spelling("planted.logistic({self})"),
    },
    absent=frozenset(),
    inherits=False,
    shorten={},
    also={},
    modes={"JVP": ("planted.first(f, {t})",), "JVP∘JVP": ("planted.second(f, {t})",)},
)

POINTS = np.array([0.0, 0.75, -1.25, 2.5, -0.5, 40.0])
KINDS = (SPECIAL, GENERIC, GENERIC, GENERIC, GENERIC, EXTREME)


def session() -> Session:
    made = Session(PLANTED)
    made.values = lambda function, t: made._names["planted"].value(function, t)  # type: ignore[method-assign]
    return made


def judged(
    op: str,
    value: Callable[[Any], Any],
    first: Callable[[Any], Any],
    second: Callable[[Any], Any],
    ours: float | None = None,
) -> Judged:
    """Judge an op whose exact derivatives these are; nan at 0 where gradspec has a kink."""
    exact = (first(POINTS), second(POINTS))
    own = (np.where(np.isnan(exact[0]), ours, exact[0]), np.where(np.isnan(exact[1]), 0, exact[1]))
    nothing = np.zeros(POINTS.shape, bool)
    sweep = Sweep(
        op,
        {},
        {"self": POINTS},
        {"self": 1},
        KINDS,
        value(POINTS),
        exact,
        (np.abs(exact[0]), np.abs(exact[1])),
        own,
        (nothing, nothing),
    )
    spec: OpSpec = TABLE.by_name(op)
    return judge(session(), spec, Asked(op, sweeps=(sweep,)))


def only(found: Judged) -> Finding:
    (finding,) = found.findings
    return finding


def kink(x: Any) -> Any:
    return np.where(x == 0, np.nan, np.sign(x))


def zero(x: Any) -> Any:
    return np.zeros_like(x)


def test_right_rules_have_no_finding() -> None:
    found = judged("cos", np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x))
    assert found.findings == []
    assert found.unconfirmed == []
    assert found.answers == 2 * POINTS.size
    assert found.functions == {"planted.cosine"}


def test_a_wrong_second_derivative_is_structural() -> None:
    found = judged("sin", np.sin, np.cos, lambda x: -np.sin(x))
    structural = [f for f in found.findings if f.grade is Grade.STRUCTURAL]
    (finding,) = structural
    assert finding.modes == ("JVP∘JVP",)
    assert finding.by_differences == pytest.approx(finding.exact, abs=1e-4)
    assert not math.isclose(finding.found, finding.exact, rel_tol=1e-3)


def test_a_wrong_sign_is_structural_in_every_mode() -> None:
    found = judged("exp", np.exp, np.exp, np.exp)
    (finding,) = [f for f in found.findings if f.grade is Grade.STRUCTURAL]
    assert finding.modes == ("JVP", "JVP∘JVP")
    assert finding.found == pytest.approx(-finding.exact)


def test_a_rule_that_is_wrong_at_zero_is_wrong_at_a_boundary() -> None:
    finding = only(judged("atan", lambda x: x + 0, np.ones_like, zero))
    assert finding.grade is Grade.BOUNDARY
    assert finding.where == "self = 0.0"
    assert (finding.found, finding.exact) == (0.0, 1.0)


def test_a_choice_between_both_slopes_is_a_convention() -> None:
    finding = only(judged("abs", np.abs, kink, zero, ours=0.0))
    assert finding.grade is Grade.CONVENTION
    assert finding.found == 1.0
    assert not finding.is_shared


def test_a_choice_that_gradspec_makes_too_is_shared() -> None:
    assert only(judged("abs", np.abs, kink, zero, ours=1.0)).is_shared


def test_a_choice_outside_of_both_slopes_is_no_convention() -> None:
    finding = only(judged("sgn", np.abs, kink, zero, ours=0.0))
    assert finding.grade is Grade.BOUNDARY
    assert finding.found == 2.0


def test_a_lost_tail_is_numerical() -> None:
    def slope(x: Any) -> Any:
        return np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))) ** 2

    finding = only(
        judged(
            "sigmoid", lambda x: 1 / (1 + np.exp(-x)), slope, lambda x: -np.tanh(x / 2) * slope(x)
        )
    )
    assert finding.grade is Grade.NUMERICAL
    assert finding.where == "self = 40.0"
    assert finding.found == 0.0
    assert finding.exact == pytest.approx(4.248354255291589e-18)


def test_what_differences_contradict_is_not_reported_as_structural() -> None:
    """The library is right and the claim is wrong: differences of its own function say so."""
    found = judged("cos", np.cos, lambda x: np.sin(x) + 2, lambda x: -np.cos(x))
    assert Grade.STRUCTURAL not in {finding.grade for finding in found.findings}
    assert Grade.BOUNDARY not in {finding.grade for finding in found.findings}


def test_another_value_is_another_function() -> None:
    found = judged("cos", lambda x: np.cos(x) + 1, lambda x: -np.sin(x), lambda x: -np.cos(x))
    assert found.findings == []
    assert found.problems["the values are others"] == 1


@pytest.mark.parametrize("op", ["sin", "exp"])
def test_programs_are_short_and_print_what_was_found(op: str) -> None:
    value, second = (np.sin, lambda x: -np.sin(x)) if op == "sin" else (np.exp, np.exp)
    first = np.cos if op == "sin" else np.exp
    for finding in judged(op, value, first, second).findings:
        assert len(finding.program.splitlines()) <= MOST_LINES
        assert printed(finding.program) == pytest.approx(finding.found, nan_ok=True)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("torch.sum((torch.tensor([1.0]) + t * torch.tensor([2.0])), dim=0)", "torch.sum"),
        ("torch.conj((torch.tensor([1.0]) + t * torch.tensor([2.0])))", "torch.conj"),
        ("torch.linalg.eigh(torch.tensor([[1.0]]))[0]", "torch.linalg.eigh"),
        ("((torch.tensor(1.0) + t) ** torch.tensor(2.0))", "the operator **"),
    ],
)
def test_a_call_has_the_name_of_its_function(call: str, name: str) -> None:
    assert function_name(call) == name


def test_a_program_that_prints_a_number_does_not_show_an_infinity() -> None:
    """Arrays may overflow where one number does not."""
    suspicion = Suspicion(
        "cos", "cos", "JVP", Grade.NUMERICAL, "", "planted.cosine(t)", 0.5, math.inf,
        -math.sin(0.5), None,
    )  # fmt: skip
    assert shown(session(), [suspicion]) is None

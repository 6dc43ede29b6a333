"""Second derivatives are proved in every mode, and at points that formulas set apart."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gradspec.dispatch.registry import import_all
from gradspec_codegen.diagnostics import render
from gradspec_codegen.prove.identities.higher_orders import HigherOrders
from gradspec_codegen.prove.identities.identity import Derivatives
from gradspec_codegen.prove.inputs.chambers import Chambers
from gradspec_codegen.prove.inputs.draw import build, examples_of
from gradspec_codegen.prove.report.verdict import OpVerdict, Status, explain
from gradspec_codegen.spec.model import OpSpec
from tests.codegen.proving import own_table, prove_text

import_all()

RULES = Path(__file__).parent / "orders"

LABELS = {
    "statistic_as_constant": "VJP of the JVP by self[0]",
    "saved_inverse": "VJP of the JVP by A[0,0]",
    "saved_mean": "VJP of the JVP by self[0]",
    "running_product_at_zeros": "VJP of the JVP by self",
    "point_without_curvature": "JVP of the VJP of self",
    "point_without_third_order": "JVP of the double backward by self",
    "power_at_exponent_zero": "JVP of the VJP of self",
    "square_by_size": "JVP of the VJP of self",
}


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[OpSpec, OpVerdict]]:
    text = (RULES / "wrong.yaml").read_text(encoding="utf-8")
    return prove_text(text, tmp_path_factory.mktemp("orders"), "wrong_orders")


@pytest.mark.parametrize("name", LABELS)
def test_the_derivative_of_a_derivative_is_refuted(
    wrong: dict[str, tuple[OpSpec, OpVerdict]], name: str
) -> None:
    _, verdict = wrong[name]
    assert verdict.status is Status.REFUTED, verdict.notes
    assert verdict.counterexample is not None
    assert verdict.counterexample.label == LABELS[name]


def test_every_wrong_rule_is_listed(wrong: dict[str, tuple[OpSpec, OpVerdict]]) -> None:
    assert {name for name in wrong if not name.startswith("_")} == LABELS.keys()


def test_a_jvp_that_cannot_be_differentiated_is_shown(
    wrong: dict[str, tuple[OpSpec, OpVerdict]],
) -> None:
    spec, verdict = wrong["statistic_as_constant"]
    shown = render(explain(verdict, spec))
    assert "VJP of the JVP by self[0] is wrong" in shown
    assert "result: sum(self_t * self_p) / _frozen_length(self_p)" in shown


def test_a_wrong_point_is_said(wrong: dict[str, tuple[OpSpec, OpVerdict]]) -> None:
    spec, verdict = wrong["running_product_at_zeros"]
    assert "where an element of self is 0 (self = [0.0, " in render(explain(verdict, spec))


def test_rules_that_can_be_differentiated_are_proved(tmp_path: Path) -> None:
    text = (RULES / "right.yaml").read_text(encoding="utf-8")
    found = prove_text(text, tmp_path, "right_orders")
    statuses = {name: verdict.status for name, (_, verdict) in found.items()}
    assert statuses == dict.fromkeys(statuses, Status.PROVED)
    assert len(statuses) == 3


def notes_on(name: str, number: int) -> list[str]:
    """Compare second derivatives at an example of an op of the table; answers what is said of them.

    That all of them are right is proved by `make prove`.
    """
    spec = own_table().by_name(name)
    inputs = build(spec, examples_of(spec)[number])
    run = next(Chambers(spec, inputs, random.Random(name)).runs())
    orders = HigherOrders(spec)
    identities = list(orders.identities(run, Derivatives()))
    assert len(identities) + orders.decide_with_numbers() > 0
    return [note for note in orders.notes() if note.startswith("second")]


def test_numbers_are_said_where_symbols_are_too_many() -> None:
    assert notes_on("_native_group_norm", 1) == [
        "second derivatives in nested modes of _native_group_norm(self=[2, 2, 2], num_groups=2, "
        "weight=None, bias=None, eps=0.5) were compared with differences at a point"
    ]
    assert notes_on("silu", 0) == []

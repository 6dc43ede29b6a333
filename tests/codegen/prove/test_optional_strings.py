"""An optional string that is handed on: None may mean another overload than a string does."""

from __future__ import annotations

from pathlib import Path

import pytest

import gradspec as gs
from gradspec_codegen.prove.report.verdict import OpVerdict, Status, explain
from gradspec_codegen.spec.model import OpSpec
from tests.codegen.proving import imported, prove_text

SPEC = """
- name: rounded(Tensor self, Tensor other, str? mode=None) -> Tensor
  doc: A mode handed on by a composite.
  composite: div(self, other, rounding_mode=mode)
  examples: [{self: [2], other: [2]}, {self: [2], other: [2], mode: floor}]

- name: halved(Tensor self, str? mode=None) -> Tensor
  doc: The same on arrays, in the midst of a formula.
  forward: -div(self, 2.0, rounding_mode=mode)
  self: -grad / 2 if mode is None else 0 * grad
  result: -self_t / 2 if mode is None else 0 * self_t
  examples: [{self: [2]}, {self: [2], mode: floor}, {self: [2], mode: trunc}]
"""

REFUTED = """
- name: never_rounded(Tensor self, str? mode=None) -> Tensor
  doc: The gradient of the overload for None only.
  forward: -div(self, 2.0, rounding_mode=mode)
  self: -grad / 2
  result: -self_t / 2 if mode is None else 0 * self_t
  examples: [{self: [2]}, {self: [2], mode: floor}]
"""


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[OpSpec, OpVerdict]]:
    folder: Path = tmp_path_factory.mktemp("strings")
    return prove_text(SPEC + REFUTED, folder, "ops_with_modes")


@pytest.mark.parametrize("name", ["rounded", "halved"])
def test_proved(name: str, verdicts: dict[str, tuple[OpSpec, OpVerdict]]) -> None:
    spec, verdict = verdicts[name]
    assert verdict.status is Status.PROVED, str(explain(verdict, spec))


def test_refuted(verdicts: dict[str, tuple[OpSpec, OpVerdict]]) -> None:
    _, verdict = verdicts["never_rounded"]
    assert verdict.counterexample is not None
    assert "mode='floor'" in verdict.counterexample.call


def test_the_overload_is_chosen_at_the_call(tmp_path: Path) -> None:
    ops = imported(SPEC, tmp_path, "modes_at_calls")
    x = gs.tensor([-7.0, 7.0])
    assert ops.rounded(x, gs.tensor(2.0)).tolist() == [-3.5, 3.5]
    assert ops.rounded(x, gs.tensor(2.0), "floor").tolist() == [-4.0, 3.0]
    assert ops.rounded(x, gs.tensor(2.0), mode="trunc").tolist() == [-3.0, 3.0]
    assert ops.halved(x).tolist() == [3.5, -3.5]
    assert ops.halved(x, "floor").tolist() == [4.0, -3.0]

"""Breakpoints are declared, and the generated code does there what the spec says."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradspec_codegen.prove.report.verdict import OpVerdict, Status
from tests.codegen.proving import prove_text

OPS = """
- name: declared(Tensor self) -> Tensor
  doc: Relu, with the derivative 0 at 0.
  forward: where(self > 0, self, 0)
  self: where(self > 0, grad, 0)
  result: auto_element_wise
  promotes: self
  kinks: {"self == 0": 0}

- name: undeclared(Tensor self) -> Tensor
  doc: Relu, without a word on 0.
  forward: where(self > 0, self, 0)
  self: where(self > 0, grad, 0)
  result: auto_element_wise
  promotes: self

- name: wrongly_declared(Tensor self) -> Tensor
  doc: Relu, with another derivative at 0 than it says.
  forward: where(self > 0, self, 0)
  self: where(self >= 0, grad, 0)
  result: auto_element_wise
  promotes: self
  kinks: {"self == 0": 0}

- name: half_declared(Tensor self) -> Tensor
  doc: Two breakpoints, one of them declared.
  forward: where(self > 6, 6, where(self > 0, self, 0))
  self: where((self > 0) & (self < 6), grad, 0)
  result: auto_element_wise
  promotes: self
  kinks: {"self == 0": 0}

- name: smooth(Tensor self) -> Tensor
  doc: Two pieces that meet with one slope need no kink.
  forward: where(self > 1, self * self, self * 2 - 1)
  self: where(self > 1, grad * self * 2, grad * 2)
  result: auto_element_wise
  promotes: self

- name: by_argument(Tensor self, Scalar bound=2) -> Tensor
  doc: The breakpoint depends on an argument, the factor is a formula.
  forward: where(self > bound, self * self, self * bound)
  self: where(self > bound, grad * self * 2, grad * bound)
  result: auto_element_wise
  promotes: self
  kinks: {"self == bound": bound}
  examples:
    - {self: [2], bound: 3}

- name: derived(Tensor self, Tensor low) -> Tensor
  doc: No rule is written, so none claims anything of the breakpoint.
  forward: maximum(self, low)

- name: without_a_break(Tensor self) -> Tensor
  doc: A kink that is none.
  forward: self * 2
  self: grad * 2
  result: auto_element_wise
  promotes: self
  kinks: {"self == 0": 2}
"""


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OpVerdict]:
    proved = prove_text(OPS, tmp_path_factory.mktemp("kinks"), "kink_ops")
    return {name: verdict for name, (_, verdict) in proved.items()}


@pytest.mark.parametrize("name", ["declared", "smooth", "by_argument"])
def test_what_is_as_declared_is_proved(verdicts: dict[str, OpVerdict], name: str) -> None:
    assert verdicts[name].status is Status.PROVED, verdicts[name]
    assert verdicts[name].notes == ()


def test_another_derivative_than_declared_is_refuted(verdicts: dict[str, OpVerdict]) -> None:
    found = verdicts["wrongly_declared"].counterexample
    assert found is not None
    assert found.label == "VJP of self at the kink `self == 0`"
    assert (found.got, found.expected) == ("grad", "0")


@pytest.mark.parametrize(("name", "place"), [("undeclared", "self"), ("half_declared", "self - 6")])
def test_a_breakpoint_must_be_declared(
    verdicts: dict[str, OpVerdict], name: str, place: str
) -> None:
    assert verdicts[name].status is Status.REFUTED
    found = verdicts[name].counterexample
    assert found is not None
    assert f"jumps where {place} == 0," in found.message
    assert found.key == "forward"


def test_breakpoints_of_derived_rules_are_noted(verdicts: dict[str, OpVerdict]) -> None:
    assert verdicts["derived"].status is Status.PROVED, verdicts["derived"]
    (note,) = verdicts["derived"].notes
    assert note.startswith("its derivative jumps where low - self == 0: the derived rules take")


def test_a_kink_that_is_none_is_noted(verdicts: dict[str, OpVerdict]) -> None:
    assert verdicts["without_a_break"].notes == (
        "breakpoints unchecked: nothing breaks where `self == 0`",
    )


def test_the_kinks_of_a_table_count(verdicts: dict[str, OpVerdict], tmp_path: Path) -> None:
    text = OPS[: OPS.index("- name: undeclared")].replace('"self == 0": 0', '"self == 0": 1')
    _, verdict = prove_text(text, tmp_path, "changed_ops")["declared"]
    assert verdict.status is Status.REFUTED
    assert verdicts["declared"].status is Status.PROVED

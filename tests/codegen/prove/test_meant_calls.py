"""Requirements of an entry bound its proof: calls that it refuses are not proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradspec_codegen.prove.report.verdict import OpVerdict, Status
from tests.codegen.proving import prove_text

SPEC = """
- name: squares_of_matrices(Tensor self) -> Tensor
  doc: The gradient is right for matrices alone.
  requires: self.ndim == 2
  forward: sum(self * self)
  self: 2 * grad * self if self.ndim == 2 else 3 * grad * self
  result: 2 * sum(self_t * self_p)
  examples: [{self: [2, 3]}]

- name: product_but_for_two(Tensor self, Scalar alpha=3) -> Tensor
  doc: The gradient is right for all numbers but one.
  requires: alpha != 2
  forward: self * alpha
  self: grad if alpha == 2 else grad * alpha
  result: self_t * alpha
  examples: [{self: [2]}, {self: [2], alpha: 1}]

- name: double_precision(Tensor self) -> Tensor
  doc: No other dtype, so that it need not be right.
  requires: "self.dtype == 'float64'"
  forward: sum(self * self)
  self: 2 * grad * self
  result: 2 * sum(self_t * self_p)
  examples: [{self: [2]}]

- name: calls_double_precision(Tensor self) -> Tensor
  doc: Refused wherever what it calls is.
  forward: 2 * double_precision(self)
  self: 4 * grad * self
  result: 4 * sum(self_t * self_p)
  examples: [{self: [2]}]

- name: product_of_matrices(Tensor self, Tensor other) -> Tensor
  doc: What promotes need not be elementwise.
  requires: [self.ndim == 2, other.ndim == 2]
  forward: self @ other
  self: grad @ transpose(other, 0, 1)
  other: transpose(self, 0, 1) @ grad
  result: self_t @ other_p + self_p @ other_t
  promotes: self, other
  same_dtype: self, other
  examples: [{self: [2, 3], other: [3, 2]}]

- name: ramp_of_vectors(Tensor self) -> Tensor
  doc: A breakpoint that single elements would have to be asked about.
  requires: self.ndim == 1
  forward: np.maximum(self, 0)
  self: where(self > 0, grad, 0)
  result: where(self_p > 0, self_t, 0)
  kinks: {self == 0: 0}
  examples: [{self: [2]}]

- name: sine_of_matrices(Tensor self) -> Tensor
  doc: Elementwise, but not for single elements.
  requires: self.ndim == 2
  forward: np.sin(self)
  self: grad * cos(self)
  result: auto_element_wise
  examples: [{self: [2, 3]}]
"""


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OpVerdict]:
    found = prove_text(SPEC, tmp_path_factory.mktemp("meant"), "meant_ops")
    return {name: verdict for name, (_, verdict) in found.items()}


PROVED = (
    "squares_of_matrices",
    "product_but_for_two",
    "double_precision",
    "calls_double_precision",
    "product_of_matrices",
)


@pytest.mark.parametrize("name", PROVED)
def test_a_rule_need_not_be_right_where_it_is_not_meant(
    verdicts: dict[str, OpVerdict], name: str
) -> None:
    assert verdicts[name].status is Status.PROVED, verdicts[name].notes
    assert verdicts[name].notes == ()


def test_what_is_elementwise_is_proved_on_single_elements(verdicts: dict[str, OpVerdict]) -> None:
    verdict = verdicts["sine_of_matrices"]
    assert verdict.status is Status.ERROR
    assert any("leave out `self.ndim == 2`" in note for note in verdict.notes)


def test_breakpoints_that_were_not_looked_at_are_told(verdicts: dict[str, OpVerdict]) -> None:
    verdict = verdicts["ramp_of_vectors"]
    assert verdict.status is Status.PROVED
    assert verdict.notes == ("breakpoints unchecked: `requires` refuses single elements",)


@pytest.mark.parametrize(
    ("name", "requires"),
    [("squares_of_matrices", "self.ndim == 2"), ("product_but_for_two", "alpha != 2")],
)
def test_without_the_requirement_the_rule_is_refuted(
    tmp_path: Path, name: str, requires: str
) -> None:
    entry = next(text for text in SPEC.split("\n\n") if f"name: {name}(" in text)
    assert entry.count(f"  requires: {requires}\n") == 1
    wrong = entry.replace(f"  requires: {requires}\n", "").replace(name, f"{name}_and_others")
    ((_, verdict),) = prove_text(wrong, tmp_path, f"{name}_of_all").values()
    assert verdict.status is Status.REFUTED, verdict.notes

"""Batching rules are found, and none that is wrong is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradspec_codegen.prove.report.verdict import OpVerdict
from tests.codegen.proving import prove_text

OPS = """
- name: cube(Tensor self) -> Tensor
  doc: The third power.
  forward: self * self * self

- name: total(Tensor self, int axis) -> Tensor
  doc: The sum along a dimension.
  forward: np.sum(self, axis)
  examples:
    - {self: [2, 3], axis: 0}
    - {self: [2, 3], axis: -1}

- name: everything(Tensor self) -> Tensor
  doc: The sum of all elements.
  forward: np.sum(self)
  batch: sum(flatten(self), 0)
  examples:
    - {self: [2, 3]}

- name: by_first(Tensor self, Tensor weight) -> Tensor
  doc: The sum of the elements by weights of the first dimension.
  forward: np.sum(np.swapaxes(self, 0, -1) * weight, -1)
  batch: sum(transpose(self, 0, -1) * weight, -1)
  examples:
    - {self: [2, 3], weight: [2]}

- name: has_large(Tensor self) -> Tensor
  doc: Whether the largest element is beyond a thousand.
  forward: np.max(self) > 1000
  self: non_differentiable
  examples:
    - {self: [2, 3]}
    - {self: [3]}

- name: upside_down(Tensor self) -> Tensor
  doc: The first dimension in reverse.
  forward: -np.flip(self, 0)
  examples:
    - {self: [2, 3]}
    - {self: [3]}
"""

WRONG = """
- name: mean_of_all(Tensor self) -> Tensor
  doc: The mean of all elements.
  forward: np.mean(self)
  batch: {rule}
  examples:
    - {{self: [2, 3]}}
"""


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OpVerdict]:
    folder: Path = tmp_path_factory.mktemp("batching")
    proved = prove_text(OPS, folder, "batching_ops")
    return {name: verdict for name, (_, verdict) in proved.items()}


@pytest.mark.parametrize(
    ("op", "rules"),
    [
        ("cube", ("align",)),
        ("total", ("align axis:shift",)),
        ("everything", ("formula",)),
    ],
)
def test_the_rule_follows_from_the_structure(
    verdicts: dict[str, OpVerdict], op: str, rules: tuple[str, ...]
) -> None:
    found = verdicts[op]
    assert found.holds, found
    assert found.batching is not None
    assert found.batching.rules == rules
    assert found.batching.exact > 0


def test_a_declared_rule_serves_where_no_arrangement_does(verdicts: dict[str, OpVerdict]) -> None:
    found = verdicts["by_first"].batching
    assert found is not None
    assert found.rules == ("formula",)


def test_what_takes_one_dimension_by_its_place_is_not_given_another(
    verdicts: dict[str, OpVerdict],
) -> None:
    found = verdicts["upside_down"].batching
    assert found is not None, verdicts["upside_down"]
    assert "align" not in found.rules
    assert "lead" not in found.rules


def test_examples_with_the_same_result_tell_nothing(verdicts: dict[str, OpVerdict]) -> None:
    found = verdicts["has_large"].batching
    assert found is not None, verdicts["has_large"]
    assert "same" not in found.rules


@pytest.mark.parametrize(
    "rule",
    ["sum(flatten(self), 0)", "mean(self, 0)", "amax(flatten(self), 0)", "0.999999 * mean(self)"],
)
def test_a_wrong_declared_rule_is_refuted(rule: str, tmp_path: Path) -> None:
    _, verdict = prove_text(WRONG.format(rule=rule), tmp_path, "wrong_batch")["mean_of_all"]
    assert not verdict.holds
    assert verdict.counterexample is not None
    assert verdict.counterexample.key == "batch"


def test_a_rule_with_other_gradients_at_ties_is_refuted(tmp_path: Path) -> None:
    """`max` shares the gradient among equal elements, `max(dim)` gives it to one of them."""
    text = """
- name: largest(Tensor self) -> Tensor
  doc: The largest element.
  forward: np.max(self)
  batch: max(flatten(self), 0)[0]
  self: |
    largest = _is_extreme(self, result)
    return where(largest, grad / sum(largest, dtype=grad.dtype), 0)
  result: |
    largest = _is_extreme(self_p, result)
    return sum(where(largest, self_t, 0)) / sum(largest, dtype=self_t.dtype)
  real_only: NotImplementedError
  examples:
    - {self: [2, 3]}
"""
    _, verdict = prove_text(text, tmp_path, "tied_ops")["largest"]
    assert not verdict.holds
    assert verdict.counterexample is not None
    assert verdict.counterexample.key == "batch"


def test_a_rule_whose_own_derivatives_lack_a_term_is_refuted(tmp_path: Path) -> None:
    """The value and the first derivatives are those of the op: a Hessian would be zero."""
    text = """
- name: sum_of_squares(Tensor self) -> Tensor
  doc: The sum of the squares.
  forward: sum(self * self)
  self: 2 * grad * self
  result: 2 * sum(self_p * self_t)
  batch: |
    d = detach_copy(flatten(self))
    return sum(2 * flatten(self) * d - d * d, 0)
  examples: [{self: [3]}]
"""
    _, verdict = prove_text(text, tmp_path, "held_ops")["sum_of_squares"]
    assert not verdict.holds
    assert verdict.counterexample is not None
    assert verdict.counterexample.key == "batch"

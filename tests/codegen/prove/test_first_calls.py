"""Entries without examples: the prover finds the calls to begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.proving import prove_text

RIGHT = {
    "reduction": """\
- name: found_squares(Tensor self, int dim, bool keepdim=False) -> Tensor
  forward: sum(self * self, dim, keepdim)
""",
    "matrices": """\
- name: found_form(Tensor A, Tensor x) -> Tensor
  forward: sum(x * squeeze(A @ unsqueeze(x, -1), -1), -1)
""",
    "factors": """\
- name: found_log_det(Tensor A) -> Tensor
  forward: 2 * sum(log(diagonal(linalg_cholesky(A), 0, -2, -1)), -1)
""",
    "list": """\
- name: found_joined(Tensor[] tensors) -> Tensor
  forward: exp(cat(tensors, 0))
""",
    "indices": """\
- name: found_rows(Tensor self, Tensor index) -> Tensor
  forward: self[index] * 2
  self: index_put(zeros_like(self), [index], grad * 2, True)
  index: non_differentiable
  result: self_t[index] * 2
""",
    "requirement": """\
- name: found_triple(Tensor self) -> Tensor
  requires: self.ndim == 1 and self.shape[0] >= 3
  forward: sum(self ** 3)
""",
    "shape": """\
- name: found_four(Tensor p, Tensor q) -> Tensor
  requires:
    - p.shape == (4,)
    - q.shape[-1] == p.shape[0] and q.ndim == 2
  forward: exp(q @ p)
""",
    "half of a shape": """\
- name: found_half(Tensor self, Tensor weight) -> Tensor
  requires:
    - self.ndim == 2
    - weight.shape == (self.shape[-1] // 2,)
    - self.shape[-1] % 2 == 0
  forward: exp(narrow(self, 1, 0, self.shape[1] // 2) * weight)
""",
    "text": """\
- name: found_measure(Tensor self, str kind) -> Tensor
  requires: kind in ("sum", "mean")
  forward: "sum(exp(self)) if kind == 'sum' else mean(exp(self))"
""",
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT.keys())
def test_a_right_entry_without_examples_is_proved(text: str, tmp_path: Path) -> None:
    ((_, verdict),) = prove_text(text, tmp_path, "found_examples").values()
    assert verdict.holds, (verdict.notes, verdict.counterexample)


WRONG = """\
- name: found_wrong(Tensor self, int dim, bool keepdim=False) -> Tensor
  forward: sum(self * self, dim, keepdim)
  self: 2 * self * WHAT
  result: sum(2 * self_p * self_t, dim, keepdim)
"""


def test_a_wrong_entry_without_examples_is_refused(tmp_path: Path) -> None:
    """The calls that are found have the first `dim` without `keepdim`: others follow from them."""
    text = WRONG.replace("WHAT", "(grad if keepdim else unsqueeze(grad, 0))")
    ((_, verdict),) = prove_text(text, tmp_path, "found_wrong_examples").values()
    assert not verdict.holds
    assert verdict.counterexample is not None
    assert "dim=" in verdict.counterexample.call


def test_whole_numbers_are_no_call_of_what_takes_floats(tmp_path: Path) -> None:
    """A matrix product refuses other dtypes, which says nothing about its derivatives."""
    text = """\
- name: found_product(Tensor x, Tensor W, Tensor y) -> Tensor
  requires:
    - x.ndim == 1
    - y.ndim == 1
    - W.shape == (x.shape[0], y.shape[0])
  forward: x @ W @ y
"""
    ((_, verdict),) = prove_text(text, tmp_path, "found_floats").values()
    assert verdict.holds, (verdict.notes, verdict.counterexample)


def test_an_op_that_accepts_no_call_asks_for_one(tmp_path: Path) -> None:
    text = """\
- name: found_none(Tensor self) -> Tensor
  requires: self.ndim == 9
  forward: sum(exp(self))
"""
    ((_, verdict),) = prove_text(text, tmp_path, "found_no_examples").values()
    assert not verdict.holds
    assert any("add `examples:`" in note for note in verdict.notes)

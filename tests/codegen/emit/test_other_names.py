"""Formulas that call ops by their other names, `ones_like` and `zeros_like` among them."""

from __future__ import annotations

from pathlib import Path

import gradspec as gs
from tests.codegen.proving import imported, prove_text

SPEC = """
- name: shifted(Tensor self) -> Tensor
  doc: One more than the square.
  forward: absolute(self) * absolute(self) + ones_like(self) - zeros_like(self)
  self: 2 * multiply(grad, self) * ones_like(self) + zeros_like(self)
  result: auto_element_wise
  domain: {self: nonzero}
  examples: [{self: [2]}]

- name: weighted(Tensor self) -> Tensor
  doc: The mean of absolute values, weighed by a softmax.
  forward: sum(softmax(self, 0) * absolute(self) * ones_like(self), 0)
  examples: [{self: [2]}]

- name: longer(Tensor self) -> Tensor
  doc: Each element, as often as there are elements.
  forward: numel(self) * self
  self: numel(self) * grad
  result: auto_linear
  examples: [{self: [2]}]

- name: sum_with_helper(Tensor self, Tensor b, Scalar add_present=1) -> Tensor
  doc: An argument is called like a function that the tangent calls, and no tangent reads it.
  forward: self + b + add_present
  promotes: self, b
  examples: [{self: [2], b: [2]}]

- name: scaled_by_self(Tensor a, Scalar self_=2) -> Tensor
  doc: An argument is called nearly like the first of other ops.
  forward: a * a * self_
  a: 2 * grad * a * self_
  result: 2 * a_t * a_p * self_
  examples: [{a: [2]}]
"""


def test_they_are_proved(tmp_path: Path) -> None:
    found = prove_text(SPEC, tmp_path, "other_names_proved")
    assert {name: verdict.status for name, (_, verdict) in found.items()} == dict.fromkeys(
        ("shifted", "weighted", "longer", "sum_with_helper", "scaled_by_self"), "proved"
    )


def test_they_run(tmp_path: Path) -> None:
    ops = imported(SPEC, tmp_path, "other_names")
    x = gs.tensor([3.0, -2.0], dtype=gs.float64, requires_grad=True)
    y = ops.shifted(x)
    assert y.tolist() == [10.0, 5.0]
    assert gs.autograd.grad(y.sum(), x)[0].tolist() == [6.0, -4.0]
    assert ops.longer(x).tolist() == [6.0, -4.0]
    even = gs.zeros(2, dtype=gs.float64) + 5
    assert ops.weighted(even).item() == 5.0
    assert gs.autograd.gradcheck(ops.weighted, (x,))

"""Formulas that hold for real numbers only are refuted where the spec claims more."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradspec_codegen.prove.report.verdict import OpVerdict, Status
from gradspec_codegen.spec.model import OpSpec
from tests.codegen.proving import prove_text

SPECS = """
- name: without_conj(Tensor self, Tensor other) -> Tensor
  doc: Right for real numbers.
  forward: self * other
  self: grad * other
  other: grad * self
  result: self_t * other_p + other_t * self_p
  promotes: self, other
  complex: true

- name: real_only(Tensor self, Tensor other) -> Tensor
  doc: The same formulas, which claim nothing about complex numbers.
  forward: self * other
  self: grad * other
  other: grad * self
  result: self_t * other_p + other_t * self_p
  promotes: self, other

- name: conj_of_one(Tensor self, Tensor other) -> Tensor
  doc: Right unless both are complex.
  forward: self * other
  self: grad * conj(other)
  other: grad * self
  result: self_t * other_p + other_t * self_p
  promotes: self, other
  complex: true

- name: conj_in_the_tangent(Tensor self) -> Tensor
  doc: The VJP takes the conjugate, the JVP must not.
  forward: self * self
  self: grad * conj(2 * self)
  result: self_t * conj(2 * self_p)
  promotes: self
  complex: true

- name: squared_size(Tensor self) -> Tensor
  doc: A function that is nowhere holomorphic, and its right derivatives.
  forward: self * conj(self)
  self: (grad + conj(grad)) * self
  result: self_t * conj(self_p) + self_p * conj(self_t)
  promotes: self
  complex: true

- name: cube_in_a_block(Tensor self, bool flag) -> Tensor
  doc: The JVP conjugates whatever the VJP returns, on every way through it.
  forward: self * self * self
  self: |
    square = self * self
    if flag:
        return grad * conj(3 * square)
    return conj(3 * square) * grad
  result: auto_element_wise
  complex: true
  examples:
    - {self: [2], flag: true}
    - {self: [2], flag: false}

- name: complex_factor(Tensor self, Scalar factor) -> Tensor
  doc: Right unless the number is complex.
  forward: kernels.times(self, factor)
  self: grad * factor
  result: self_t * factor
  complex: true
  examples:
    - {self: [2], factor: 3}

- name: complex_base(Tensor self, Scalar base) -> Tensor
  doc: The same of its logarithm, which is exact and complex.
  forward: kernels.times_log(self, base)
  self: _times_log(grad, base)
  result: _times_log(self_t, base)
  complex: true
  examples:
    - {self: [2], base: 3}

- name: wrong_at_three(Tensor self) -> Tensor
  doc: A single complex point at which the gradient is another.
  forward: self * self
  self: where(eq(self, 3), grad, grad * conj(2 * self)) if is_complex(self) else grad * (2 * self)
  result: self_t * (2 * self_p)
  promotes: self
  complex: true

- name: unguarded_size(Tensor self) -> Tensor
  doc: Undefined at the complex zero, where the VJP says that it is zero.
  forward: np.abs(self)
  self: grad * sgn(self)
  result: real(self_t * conj(self_p)) / result if is_complex(self_p) else self_t * sgn(self_p)
  kinks: {"self == 0": 0}
  complex: true
  examples:
    - {self: [2]}

- name: half_a_size(Tensor self) -> Tensor
  doc: The same with half of the gradient.
  forward: self * conj(self)
  self: grad * self
  result: self_t * conj(self_p) + self_p * conj(self_t)
  promotes: self
  complex: true

- name: length(Tensor self) -> Tensor
  doc: A real number, of which the gradient is real in the second pass, too.
  forward: sqrt(sum(abs(self) ** 2))
  self: grad * self / result
  result: sum(real(conj(self_p) * self_t)) / result
  complex: true
  domain: {self: nonzero}
  examples: [{self: {complex: [2]}}]

- name: as_constant(Tensor self) -> Tensor
  doc: Its derivative is not zero.
  forward: self * 1
  self: _zero(grad)
  result: self_t
  complex: true
  examples: [{self: [2]}]

- name: length_of_constant(Tensor self) -> Tensor
  doc: Right to first order; the second pass takes the length for a constant.
  forward: sqrt(sum(abs(self) ** 2))
  self: grad * self / as_constant(result)
  result: sum(real(conj(self_p) * self_t)) / result
  complex: true
  domain: {self: nonzero}
  examples: [{self: {complex: [2]}}]
"""

REFUTED = (
    *("without_conj", "conj_of_one", "conj_in_the_tangent", "half_a_size"),
    *("complex_factor", "complex_base", "wrong_at_three", "unguarded_size"),
    *("as_constant", "length_of_constant"),
)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[OpSpec, OpVerdict]]:
    directory: Path = tmp_path_factory.mktemp("complex")
    return prove_text(SPECS, directory, "complex_ops")


@pytest.mark.parametrize("name", REFUTED)
def test_refuted(name: str, verdicts: dict[str, tuple[OpSpec, OpVerdict]]) -> None:
    _, verdict = verdicts[name]
    assert verdict.status is Status.REFUTED


@pytest.mark.parametrize("name", ["real_only", "squared_size", "cube_in_a_block"])
def test_proved(name: str, verdicts: dict[str, tuple[OpSpec, OpVerdict]]) -> None:
    _, verdict = verdicts[name]
    assert verdict.status is Status.PROVED, verdict

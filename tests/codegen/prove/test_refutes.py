"""Formulas that are wrong in every way that has shipped somewhere are refuted, with a witness."""

from __future__ import annotations

from pathlib import Path

import pytest
import sympy

from gradspec_codegen.diagnostics import render
from gradspec_codegen.prove.report.verdict import OpVerdict, Status, explain
from gradspec_codegen.spec.model import OpSpec
from tests.codegen.proving import prove_text

WRONG = """
- name: flipped_sign(Tensor self) -> Tensor
  doc: The derivative of cos is -sin.
  forward: np.cos(self)
  self: grad * sin(self)
  result: self_t * -sin(self_p)
  promotes: self

- name: lost_factor(Tensor self) -> Tensor
  doc: The derivative of a square has a factor 2.
  forward: self * self
  self: grad * self
  result: self_t * self_p * 2
  promotes: self

- name: swapped_operands(Tensor self, Tensor other) -> Tensor
  doc: Each operand's gradient needs the other.
  forward: self * other
  self: grad * self
  other: grad * other
  result: self_t * other_p + other_t * self_p
  promotes: self, other

- name: missing_sum(Tensor self) -> Tensor
  doc: The softmax of a vector, its gradient without the sum.
  forward: kernels.softmax(self, 0)
  self: result * (grad - grad * result)
  result: result * (self_t - sum(self_t * result))
  examples:
    - {self: [3]}

- name: nearly_right(Tensor self) -> Tensor
  doc: Wrong by one in a thousand million.
  forward: np.sin(self)
  self: grad * cos(self) * 1.000000001
  result: self_t * cos(self_p)
  promotes: self

- name: wrong_far_away(Tensor self) -> Tensor
  doc: Wrong above 20 only.
  forward: self * 3
  self: where(self > 20, grad * 2, grad * 3)
  result: self_t * 3
  promotes: self

- name: wrong_in_a_strip(Tensor self) -> Tensor
  doc: Wrong between 700 and 701 only.
  forward: self * 3
  self: where((self > 700) & (self < 701), grad * 2, grad * 3)
  result: self_t * 3
  promotes: self

- name: right_for_squares(Tensor self) -> Tensor
  doc: The mean of the rows, divided by the wrong length.
  forward: kernels.sum(self, 1, False, None) / self.shape[1]
  self: _unreduce(grad, self.shape, 1, False) / self.shape[0]
  result: sum(self_t, 1, False) / self_p.shape[1]
  examples:
    - {self: [2, 2]}
    - {self: [2, 3]}

- name: wrong_tangent(Tensor self) -> Tensor
  doc: The JVP forgot the chain rule.
  forward: np.exp(self)
  self: grad * result
  result: self_t
  promotes: self

- name: wrong_at_a_number(Tensor self, Scalar alpha=1) -> Tensor
  doc: Wrong for a single value of an argument, which no example gives.
  forward: self * alpha
  self: grad if alpha == 2 else grad * alpha
  result: self_t * alpha
  promotes: self
  examples:
    - {self: [2], alpha: 3}

- name: wrong_at_a_tie(Tensor self) -> Tensor
  doc: The VJP gives a tie to all, the JVP to half of it.
  forward: kernels.max(self)
  self: where(eq(self, result), grad, 0)
  result: sum(where(eq(self_p, result), self_t, 0)) / sum(where(eq(self_p, result), 1, 0))
  examples:
    - {self: [2]}

- name: frozen_sine(Tensor self) -> Tensor
  doc: A sine that pretends to be a constant.
  forward: np.sin(self)
  self: _zero(grad)
  result: _zero(self_t)
  promotes: self

- name: wrong_second_order(Tensor self) -> Tensor
  doc: The gradient is right, and cannot be differentiated.
  forward: -np.cos(self)
  self: grad * frozen_sine(self)
  result: self_t * frozen_sine(self_p)
  promotes: self
"""

LABELS = {
    "flipped_sign": "VJP of self[0]",
    "lost_factor": "VJP of self[0]",
    "swapped_operands": "VJP of self[0,0]",
    "missing_sum": "VJP of self[0]",
    "nearly_right": "VJP of self[0]",
    "wrong_far_away": "VJP of self[",
    "wrong_in_a_strip": "VJP of self[",
    "right_for_squares": "VJP of self[0,0]",
    "wrong_tangent": "JVP of result[0]",
    "wrong_at_a_number": "VJP of self[0]",
    "wrong_at_a_tie": "VJP and JVP where self_0 - self_1 == 0",
    "frozen_sine": "VJP of self[0]",
    "wrong_second_order": "double backward by self[0]",
}

UNREDUCED = """
- name: unreduced(Tensor self, Tensor other) -> Tensor
  doc: Right only where nothing is broadcast.
  forward: self + other
  self: grad
  other: grad
  result: self_t + other_t
  examples:
    - {self: [2], other: [2]}
    - {self: [2, 2], other: [2]}
"""

Proved = dict[str, tuple[OpSpec, OpVerdict]]


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> Proved:
    return prove_text(WRONG, tmp_path_factory.mktemp("wrong"), "wrong_ops")


@pytest.mark.parametrize("name", LABELS)
def test_is_refuted(proved: Proved, name: str) -> None:
    _, verdict = proved[name]
    assert verdict.status is Status.REFUTED
    assert not verdict.holds
    assert verdict.counterexample is not None
    assert verdict.counterexample.label.startswith(LABELS[name])


@pytest.mark.parametrize("name", LABELS)
def test_the_point_reproduces_both_values(proved: Proved, name: str) -> None:
    found = proved[name][1].counterexample
    assert found is not None
    point = {symbol: sympy.Rational(value) for symbol, value in found.point}
    names = {symbol: sympy.Symbol(symbol) for symbol in point}
    values = []
    for text, printed in ((found.got, found.got_value), (found.expected, found.expected_value)):
        exact = sympy.sympify(text, locals=names).subs(
            {names[symbol]: value for symbol, value in point.items()}
        )
        value = sympy.N(exact, 60)
        digits = len(printed.lstrip("-0.").replace(".", "").partition("e")[0])
        assert abs(value - sympy.Float(printed, 60)) <= abs(value) * 10 ** (1 - max(digits, 1))
        values.append(value)
    assert abs(values[0] - values[1]) > 1e-12 * abs(values[1])


def test_the_far_region_is_found(proved: Proved) -> None:
    found = proved["wrong_far_away"][1].counterexample
    assert found is not None
    spec, verdict = proved["wrong_far_away"]
    assert (found.got, found.expected) in [(f"2*grad_{n}", f"3*grad_{n}") for n in range(3)]
    assert "error[GS070]" in render(explain(verdict, spec))


def test_a_likely_repair_is_suggested(proved: Proved) -> None:
    def suggestion(name: str) -> str:
        found = proved[name][1].counterexample
        assert found is not None
        return found.suggestion

    assert suggestion("flipped_sign").endswith("is the sign wrong?")
    assert "-grad_0*sin(self_0)" in suggestion("flipped_sign")
    assert suggestion("lost_factor").endswith("is there a factor 1/2 too many?")
    assert suggestion("frozen_sine").endswith("the formula gives nothing")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("flipped_sign", "grad * sin(self)"),
        ("lost_factor", "grad * self"),
        ("wrong_tangent", "self_t"),
        ("wrong_second_order", "grad * frozen_sine(self)"),
    ],
)
def test_the_diagnostic_points_at_the_formula(proved: Proved, name: str, text: str) -> None:
    spec, verdict = proved[name]
    (diagnostic,) = explain(verdict, spec)
    line = WRONG.split("\n")[diagnostic.span.line - 1]
    start = diagnostic.span.column - 1
    assert line[start : start + diagnostic.span.width] == text
    assert f"`{name}(" in diagnostic.message


def test_a_gradient_of_another_shape_is_refuted(tmp_path: Path) -> None:
    _, verdict = prove_text(UNREDUCED, tmp_path, "unreduced_ops")["unreduced"]
    assert verdict.status is Status.REFUTED
    assert verdict.counterexample is not None
    assert verdict.counterexample.message == "has shape [2, 2] where [2] is needed"
    assert verdict.counterexample.call == "unreduced(self=[2, 2], other=[2])"

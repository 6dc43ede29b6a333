"""Formulas that read what the forward has computed: completed, proved, and not computed twice."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gradspec as gs
from gradspec.core.modes import observe
from gradspec_codegen.ir.parse import parse
from gradspec_codegen.prove.report.verdict import Status
from gradspec_codegen.render.to_text import block_text
from gradspec_codegen.spec.model import Formula, Table
from gradspec_codegen.spec.shared_locals import leading, shared_assignments, shared_with
from tests.codegen.proving import imported, prove_text

TWICE = textwrap.dedent("""\
- family: gaps

- name: gap(Tensor self, Tensor other) -> Tensor
  doc: Squared differences.
  forward: (self - other) * (self - other)
  self: |
    size = self - other
    bent = exp(size)
    return 2 * grad * size
  other: |
    size = self - other
    bent = sin(size)
    return -2 * grad * size
  result: 2 * (self_p - other_p) * (self_t - other_t)
  promotes: self, other
""")


Load = Callable[..., Table]
Mistakes = Callable[..., list[tuple[str, str]]]

GATE = textwrap.dedent("""\
- name: gate(Tensor self, Tensor other) -> Tensor
  doc: One tensor, let through by the other.
  forward: |
    unused = exp(self)
    share = sigmoid(other)
    bent = share * share
    return self * bent
  self: grad * bent
  other: grad * self * 2 * bent * (1 - share)
  result: self_t * bent + other_t * self_p * 2 * bent * (1 - share)
  promotes: self, other
""")
WRONG = GATE.replace("result: self_t * bent", "result: self_t * share")


def test_a_formula_is_completed_by_what_it_needs_of_the_forward(load: Load) -> None:
    softsign = """\
- name: gate(Tensor self) -> Tensor
  forward: |
    other = exp(self)
    scale = abs(self)
    size = 1 + scale
    return self / size
  self: grad / (size * size)
  result: auto_element_wise
- name: exp(Tensor self) -> Tensor
  forward: np.exp(self)
  self: grad * result
  result: auto_element_wise
- name: abs(Tensor self) -> Tensor
  forward: np.abs(self)
  self: grad * self
  result: auto_element_wise
"""
    op = load(softsign).by_name("gate")
    rule = op.rule("self")
    assert isinstance(rule, Formula)
    wanted = "scale = abs(self)\nsize = 1 + scale\nreturn grad / (size * size)"
    assert rule.text == wanted
    assert rule.block == parse(wanted)
    assert len(rule.spans) == len(wanted) + 1
    lines = [rule.spans[wanted.index(word)].line for word in ("scale", "size", "return", "grad")]
    assert lines == [4, 5, 7, 7]


@pytest.mark.parametrize(
    "rule", ["# a comment\n\nreturn grad * bent", "# a comment\n(grad * bent)"]
)
def test_a_comment_may_come_before_what_reads_the_forward(load: Load, rule: str) -> None:
    indented = textwrap.indent(rule, "    ")
    others = """\
- name: exp(Tensor self) -> Tensor
  composite: self
- name: sigmoid(Tensor self) -> Tensor
  composite: self
"""
    text = GATE.replace("  self: grad * bent", f"  self: |\n{indented}") + others
    found = load(text).by_name("gate").rule("self")
    assert isinstance(found, Formula)
    wanted = "share = sigmoid(other)\nbent = share * share\nreturn grad * bent"
    assert found.block.expression is None
    assert block_text(found.block) == block_text(parse(wanted))


def test_completed_formulas_are_proved_and_wrong_ones_refuted(tmp_path: Path) -> None:
    for text, package, status in (
        (GATE, "gates", Status.PROVED),
        (WRONG, "wrong_gates", Status.REFUTED),
    ):
        (op, verdict), *_ = prove_text(text, tmp_path, package).values()
        assert (op.name, verdict.status) == ("gate", status)


def test_a_wrong_assignment_in_the_gradient_is_no_shared_one(tmp_path: Path) -> None:
    text = GATE.replace(
        "  self: grad * bent\n",
        "  self: |\n    share = sigmoid(-other)\n    return grad * (share * share)\n",
    )
    (_, verdict), *_ = prove_text(text, tmp_path, "other_gates").values()
    assert verdict.status is Status.REFUTED


CHANGED = """\
- name: gained(Tensor self, Tensor? weight=None) -> Tensor
  doc: A squashed tensor with a weight.
  requires: [weight is None or weight.shape == self.shape]
  forward: |
    x = tanh(self)
    if weight is not None:
        x = x * weight
    return x
  self: |
    x = tanh(self)
    slope = grad * (1 - x * x)
    return slope if weight is None else slope * weight
  weight: |
    x = tanh(self)
    return grad * x
  examples:
    - {self: [2]}
    - {self: [2], weight: [2]}
"""


def test_a_local_that_the_forward_assigns_again_is_computed_anew(tmp_path: Path) -> None:
    (_, verdict), *_ = prove_text(CHANGED, tmp_path, "gained").values()
    assert verdict.status is Status.PROVED, verdict


def test_a_local_that_reads_another_one_of_the_same_name_is_not_shared() -> None:
    text = "a = self * 3\nx = tanh(a)\nreturn x * other"
    forward = Formula(text, parse(text), ())
    made = shared_assignments(parse("a = self * 2\nx = tanh(a)\nreturn grad * x"), forward)
    assert made == ()
    same = shared_assignments(parse("a = self * 3\nx = tanh(a)\nreturn grad * x"), forward)
    assert [each.targets for each in same] == [("a",), ("x",)]


def test_a_primitive_is_no_part_of_a_formula(mistakes: Mistakes) -> None:
    text = """\
- name: gate(Tensor self) -> Tensor
  forward: |
    share = np.exp(self)
    return self + share
  self: grad * (1 + share)
  result: self_t * (1 + share)
  examples:
    - {self: [2]}
"""
    assert [code for code, _ in mistakes(text)] == ["GS038", "GS038"]


def test_a_local_that_some_way_through_the_forward_does_not_assign(mistakes: Mistakes) -> None:
    text = """\
- name: gate(Tensor self, bool flag) -> Tensor
  forward: |
    if flag:
        share = self + self
        return share
    return self
  self: grad * share
  result: auto_linear
  examples:
    - {self: [2], flag: true}
"""
    assert [code for code, _ in mistakes(text)] == ["GS034"]


def test_the_node_keeps_what_the_forward_computed_until_it_is_freed() -> None:
    x = gs.tensor([0.5, -1.0], requires_grad=True)
    y = gs.nn.functional.silu(x)
    kept = y.grad_fn.computed_share
    np.testing.assert_allclose(kept, 1 / (1 + np.exp([-0.5, 1.0])), rtol=1e-6)
    kept[:] = 1  # so that the gradient shows where it looks
    y.sum().backward()
    expected = [1 + 0.5 / (1 + np.exp(0.5)), 1 - 1 / (1 + np.exp(-1.0))]
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-6)
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


BETWEEN = """\
- name: scaled(Tensor self, Tensor weight) -> Tensor
  doc: A tensor over the root of its mean square, times weights.
  forward: |
    size = sqrt(mean(self * self))
    return self / size * weight
  self: |
    back = grad * weight
    size = sqrt(mean(self * self))
    return back / size - self * sum(back * self) / (size ** 3 * numel(self.shape))
  weight: grad * self / size
  result: auto
  examples: [{self: [2], weight: [2]}]
"""


def test_what_is_kept_is_read_behind_what_is_not(tmp_path: Path) -> None:
    scaled = imported(BETWEEN, tmp_path, "scaled_ops").scaled
    x, weight = gs.tensor([3.0, 4.0], requires_grad=True), gs.tensor([1.0, 2.0], requires_grad=True)
    y = scaled(x, weight)
    y.grad_fn.computed_size = np.float32(2)  # so that the gradient shows where it looks
    y.backward(gs.tensor([1.0, 0.0]))
    np.testing.assert_allclose(x.grad.numpy(), [0.5 - 9 / 16, -12 / 16], rtol=1e-6)
    np.testing.assert_allclose(weight.grad.numpy(), [1.5, 0.0], rtol=1e-6)


def test_the_second_derivative_computes_it_anew() -> None:
    x = gs.tensor([0.5, -1.0], dtype=gs.float64, requires_grad=True)
    y = gs.nn.functional.silu(x)
    (slope,) = gs.autograd.grad(y.sum(), x, create_graph=True)
    (bend,) = gs.autograd.grad(slope.sum(), x)
    s = 1 / (1 + np.exp(-x.numpy(force=True)))
    wanted = s * (1 - s) * (2 + x.numpy(force=True) * (1 - 2 * s))
    np.testing.assert_allclose(bend.numpy(), wanted, rtol=1e-12)


def test_gelu_refuses_an_unknown_form() -> None:
    with pytest.raises(RuntimeError, match="either none or tanh"):
        gs.nn.functional.gelu(gs.tensor([0.5]), approximate="erf")


@pytest.mark.parametrize("asked", ["both", "self", "other"])
def test_what_two_gradients_begin_with_is_computed_once(asked: str) -> None:
    x, y = (
        gs.tensor(values, requires_grad=asked in ("both", name))
        for name, values in (("self", [1.0, -2.0]), ("other", [0.5, 0.25]))
    )
    loss = gs.nn.functional.mse_loss(x, y, reduction="sum")
    seen: list[str] = []

    def watch(results: tuple[gs.Tensor, ...]) -> None:
        seen.extend(r.grad_fn.name() for r in results if r.grad_fn is not None)

    with observe(watch):
        grads = gs.autograd.grad(loss, [t for t in (x, y) if t.requires_grad], create_graph=True)
    assert seen.count("SubBackward0") == 1
    wanted = {"self": [1.0, -4.5], "other": [-1.0, 4.5]}
    for grad, name in zip(grads, wanted if asked == "both" else [asked], strict=True):
        assert grad.tolist() == wanted[name]


def test_a_name_of_two_meanings_is_not_shared(tmp_path: Path) -> None:
    (op, verdict), *_ = prove_text(TWICE, tmp_path, "gaps").values()
    assert (op.name, verdict.status) == ("gap", Status.PROVED)
    formulas = [(names, rule) for names, rule in op.vjps if isinstance(rule, Formula)]
    size, bent = leading(formulas[1][1].block)
    assert shared_with(formulas, ("other",), size) == ("self",)
    assert shared_with(formulas, ("self",), size) == ()
    assert shared_with(formulas, ("other",), bent) == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("size = exp(other)", "other = exp(self)\nsize = exp(other)"),  # an argument, and a local
        ("size = exp(self)\nsize = size * size", "size = exp(self)"),  # changed later on
        ("base = self * self\nsize = base + 1", "base = exp(self)\nsize = base + 1"),
        ("size = exp(self)\nif self.ndim:\n    size = self", "size = exp(self)"),
    ],
)
def test_definitions_that_only_look_the_same(first: str, second: str) -> None:
    formulas = []
    for name, text in (("self", first), ("other", second)):
        text += "\nreturn size * grad"
        formulas.append(((name,), Formula(text, parse(text), ())))
    made = leading(formulas[1][1].block)[-1]
    assert made in leading(formulas[0][1].block)
    assert shared_with(formulas, ("other",), made) == ()

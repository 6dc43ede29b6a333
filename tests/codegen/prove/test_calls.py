"""Rules that are right at the examples and wrong at a call that no example makes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gradspec_codegen.ir.walk import calls
from gradspec_codegen.prove.calls.branches import conditions_of
from gradspec_codegen.prove.report.verdict import OpVerdict, Status, explain
from gradspec_codegen.prove.symbolic.special_values import formulas
from gradspec_codegen.spec.model import OpSpec
from tests.codegen.proving import own_table, prove_text

WRONG = {
    "a shift that fits even lengths only": """
  forward: roll(self, self.shape[0] // 2, 0)
  self: roll(grad, self.shape[0] // 2, 0)
  result: auto_linear
  examples: [{self: [4]}]
""",
    "a transposition that one row hides": """
  forward: linalg_inv(self)
  self: -(result @ grad @ result)
  result: -(result @ self_t @ result)
  examples: [{self: [1, 1]}]
""",
    "an index that occurs twice": """
  forward: index_select(self, 0, index)
  self: index_put(0 * self, [index], grad)
  index: non_differentiable
  result: index_select(self_t, 0, index)
  examples: [{self: [3], index: {int: [2, 0]}}]
""",
    "an optional argument that no example gives": """
  forward: self * self if weight is None else self * self * weight
  self: 2 * grad * self if weight is None else 17 * grad
  weight: 42 * grad
  result: 2 * self_t * self_p if weight is None else self_t
  examples: [{self: [3]}]
""",
    "a product with a zero": """
  forward: prod(self)
  self: grad * result / self
  result: sum(self_t * result / self_p)
  examples: [{self: [3]}]
""",
    "a single point": """
  forward: sin(self)
  self: where(abs(self) == 0, 5 * grad, grad * cos(self))
  result: auto_element_wise
""",
    "single precision": """
  forward: sum(self * self)
  self: "grad * self if self.dtype == 'float32' else 2 * grad * self"
  result: 2 * sum(self_t * self_p)
  examples: [{self: [3]}]
""",
    "a list of other parts": """
  forward: cat(tensors, 0)
  tensors: split(grad, grad.shape[0] // len(tensors), 0)
  result: cat(tensors_t, 0)
  examples: [{tensors: [[2], [2]]}, {tensors: [[3], [3], [3]]}]
""",
    "memory of an argument": """
  forward: self
  self: grad
  result: self_t
  examples: [{self: [3]}]
""",
    "three flags together": """
  forward: self * self
  self: 3 * grad * self if a and b and c else 2 * grad * self
  result: 2 * self_t * self_p
  examples: [{self: [3]}]
""",
    "a large length": """
  forward: sum(self * self)
  self: 2 * grad * self if self.ndim == 0 or self.shape[0] < 100 else grad * self
  result: 2 * sum(self_t * self_p)
  examples: [{self: [3]}]
""",
    "beyond the domain": """
  forward: abs(self)
  self: grad
  result: self_t
  domain: {self: positive}
  examples: [{self: [3]}]
""",
    "a number that the formula tells apart": """
  forward: self * alpha
  self: grad * alpha if alpha <= 10 else grad
  result: self_t * alpha
  examples: [{self: [3]}]
""",
    "an argument declared constant": """
  forward: exp(self)
  self: non_differentiable
  examples: [{self: [3]}]
""",
    "one in ten thousand": """
  requires: self.ndim == 1
  forward: sum(self * self)
  self: 2 * grad * self * (1 if self.shape[0] < 8 else 1.0001)
  result: 2 * sum(self_t * self_p) * (1 if self_p.shape[0] < 8 else 1.0001)
  examples: [{self: [3]}]
""",
    "an order of whole numbers": """
  requires: [self.ndim == 1, "index.shape == (3,)"]
  forward: index_select(self, 0, index)
  self: >-
    index_add(0 * self, 0, index,
    where((index[0] > index[2]) & (index[2] > index[1]), 2 * grad, grad))
  index: non_differentiable
  result: index_select(self_t, 0, index)
  examples: [{self: [3], index: {int: [0, 1, 2]}}]
""",
    "nan at a kink": """
  forward: abs(self)
  self: grad * self / abs(self)
  result: self_t * self_p / abs(self_p)
  examples: [{self: [3]}]
""",
    "a kernel that orders another dimension": """
  forward: np.reshape(np.argsort(self, 0), self.shape)
  kernel: kernels.sort(self, -1, False)[1]
  output_differentiability: [false]
  examples: [{self: [3]}]
""",
    "a kernel that bounds in another order": """
  forward: where(self > high, high, where(self < low, low, self))
  kernel: kernels.hardtanh(self, low, high)
  self: where((self >= high) | (self <= low), 0, grad)
  result: where((self_p >= high) | (self_p <= low), 0, self_t)
  kinks: {self == low: 0, self == high: 0}
  examples: [{self: [3]}]
""",
}

ARGUMENTS = {
    "an index that occurs twice": "Tensor self, Tensor index",
    "an order of whole numbers": "Tensor self, Tensor index",
    "an optional argument that no example gives": "Tensor self, Tensor? weight=None",
    "a list of other parts": "Tensor[] tensors",
    "three flags together": "Tensor self, bool a=False, bool b=False, bool c=False",
    "a number that the formula tells apart": "Tensor self, *, Scalar alpha=1",
    "matrices only": "Tensor self, Tensor other",
    "matrices": "Tensor self, Tensor other",
    "a convention": "Tensor self, Tensor other",
    "a kernel that bounds in another order": "Tensor self, float low=-1.0, float high=1.0",
}

RESULTS = {"an output that is declared to be constant": "(Tensor a, Tensor b)"}


SHOWN = {
    "a shift that fits even lengths only": "the JVP gives",
    "a transposition that one row hides": "the JVP gives",
    "an index that occurs twice": r"index=\[.*(\d),.* \1\].*the JVP gives",
    "an optional argument that no example gives": r"weight=\[.*slopes of both sides",
    "a product with a zero": "is nan where an element of self is 0",
    "a single point": r"where elements are special \(self = 0\.0\)",
    "single precision": "in single precision",
    "a list of other parts": r"tensors=\[float64\[0\], float64\[0\]\].*raises IndexError",
    "memory of an argument": "shares the memory of an argument",
    "three flags together": "a=True, b=True, c=True.*the JVP gives",
    "a large length": r"float64\[1\d\d\].*the JVP gives",
    "beyond the domain": r"self=\[-.*the slopes of both sides",
    "a number that the formula tells apart": "alpha=10.5.*the JVP gives",
    "an argument declared constant": "is declared not to exist",
    "a cotangent with a zero": "linear in the gradient, also where that is zero",
    "a tangent with a zero": "is nan|linear in the tangents, also where these are zero",
    "a quotient that is rounded down": r"float64\[131\]",
    "one in ten thousand": "along a line: the slope is",
    "an order of whole numbers": r"index=\[2, 0, 1\]",
    "nan at a kink": "is nan: the slopes of both sides",
    "a kernel that orders another dimension": "kernel of result is wrong.*and of the definition",
    "a kernel that bounds in another order": "kernel of result is wrong.*and of the definition",
}
"""The call and the reason by which each is found."""

MEANT = {
    "matrices only": """
  requires: [self.ndim == 2, other.ndim == 2]
  forward: self @ other
  self: grad @ transpose(other, 0, 1)
  other: transpose(self, 0, 1) @ grad
  result: self_t @ other_p + self_p @ other_t
  examples: [{self: [2, 3], other: [3, 4]}]
""",
    "a convention": """
  requires: self.shape == other.shape
  unproved: {"other == 0": the slope at zero is a convention of ours}
  forward: self * abs(other)
  self: grad * abs(other)
  other: where(other == 0, 7 * grad, grad * self * sign(other))
  result: self_t * abs(other_p) + other_t * where(other_p == 0, 7.0, self_p * sign(other_p))
  examples: [{self: [3], other: [3]}]
""",
    "a side that only excluded calls take": """
  requires: self.ndim == 2
  forward: sum(self * self)
  self: 2 * grad * self if self.ndim == 2 else grad
  result: 2 * sum(self_t * self_p)
  examples: [{self: [2, 3]}]
""",
    "nan where a root of zero is taken": """
  forward: sqrt(sum(self * self))
  self: grad * self / result
  result: sum(self_t * self_p) / result
  examples: [{self: [3]}]
""",
    "nan beyond the domain": """
  domain: {self: positive}
  forward: exp(2 * log(abs(self)))
  self: 2 * grad * result / where(self > 0, self, nan)
  result: 2 * self_t * result / where(self_p > 0, self_p, nan)
  examples: [{self: [3]}]
""",
    "an output that is declared to be constant": """
  forward: exp(self), 2 * self
  output_differentiability: [true, the second is used as a label only]
  self: grad * a
  a: self_t * a
  examples: [{self: [2]}]
""",
}


def _prove(title: str, entry: str, directory: Path) -> tuple[OpSpec, OpVerdict]:
    arguments = ARGUMENTS.get(title, "Tensor self")
    result = RESULTS.get(title, "Tensor")
    text = f"- name: unseen({arguments}) -> {result}\n  doc: An op.{entry}"
    return prove_text(text, directory, "unseen_calls")["unseen"]


@pytest.mark.parametrize("title", WRONG)
def test_a_wrong_rule_shows_at_some_call(title: str, tmp_path: Path) -> None:
    op, verdict = _prove(title, WRONG[title], tmp_path)
    assert verdict.status is Status.REFUTED, verdict
    (diagnostic,) = explain(verdict, op)
    assert re.search(SHOWN[title], diagnostic.message)


@pytest.mark.parametrize("title", MEANT)
def test_what_an_entry_says_is_not_meant_is_not_judged(title: str, tmp_path: Path) -> None:
    _, verdict = _prove(title, MEANT[title], tmp_path)
    assert verdict.status is Status.PROVED, verdict
    assert verdict.calls > 50


@pytest.mark.parametrize(
    ("formula", "condition", "side"),
    [
        (
            "grad if self.ndim * 3 == 100 else 2 * grad * self",
            "self.ndim * 3 == 100",
            "true",
        ),
        ("2 * grad * self if self.ndim >= 0 else grad", "self.ndim >= 0", "false"),
    ],
)
def test_a_condition_must_come_out_both_ways(
    formula: str, condition: str, side: str, tmp_path: Path
) -> None:
    entry = f"""
  forward: self * self
  self: {formula}
  result: 2 * self_t * self_p
  examples: [{{self: [3]}}]
"""
    op, verdict = _prove("", entry, tmp_path)
    assert verdict.status is Status.REFUTED
    (diagnostic,) = explain(verdict, op)
    assert f"the condition `{condition}` of `self` is {side} at no call" in diagnostic.message
    assert "requires" in diagnostic.help


def test_a_condition_that_only_far_calls_take_is_found(tmp_path: Path) -> None:
    entry = """
  forward: self * self
  self: >-
    3 * grad * self if self.ndim == 2 and self.shape[0] * self.shape[1] == 35
    else 2 * grad * self
  result: 2 * self_t * self_p
  examples: [{self: [2, 3]}]
"""
    op, verdict = _prove("", entry, tmp_path)
    assert verdict.status is Status.REFUTED
    (diagnostic,) = explain(verdict, op)
    assert re.search(r"float64\[(5, 7|7, 5|1, 35|35, 1)\]", diagnostic.message)


def test_the_message_suggests_which_calls_are_meant(tmp_path: Path) -> None:
    op, verdict = _prove(
        "matrices", MEANT["matrices only"].replace("requires", "# requires"), tmp_path
    )
    (diagnostic,) = explain(verdict, op)
    assert "`requires: self.ndim == 2`" in diagnostic.help


@pytest.mark.parametrize(
    ("arguments", "entry", "condition"),
    [
        (
            "Tensor self, float width=1.0",
            """
  forward: width * abs(self / width)
  self: grad * sign(self)
  result: self_t * sign(self_p)
  kinks: {self == 0: 0}
  examples: [{self: [3]}, {self: [3], width: 2.5}]
""",
            "width > 0",
        ),
        (
            "Tensor[] tensors",
            """
  forward: cat(tensors)
  tensors: split(grad, [len(tensors[0]), len(tensors[1])])
  result: cat(tensors_t)
  examples: [{tensors: [[2], [3]]}]
""",
            "len(tensors) == 2",
        ),
    ],
)
def test_numbers_and_lengths_are_suggested_as_well(
    arguments: str, entry: str, condition: str, tmp_path: Path
) -> None:
    text = f"- name: unseen({arguments}) -> Tensor\n  doc: An op.{entry}"
    op, verdict = prove_text(text, tmp_path, "suggested")["unseen"]
    assert verdict.status is Status.REFUTED
    (diagnostic,) = explain(verdict, op)
    assert f"`requires: {condition}`" in diagnostic.help, diagnostic


def test_conditions_are_found_in_every_formula() -> None:
    found = {(c.key, c.text) for c in conditions_of(own_table().by_name("clamp.Tensor"))}
    assert {("forward", "min is None"), ("min", "self < min"), ("result", "max_p < min_p")} <= found


SUMS = {
    *(
        "sum",
        "mean",
        "var",
        "std",
        "logsumexp",
        "softmax",
        "_softmax",
        "norm",
        "matmul",
        "mm",
        "dot",
    ),
    *("linalg_vector_norm", "_sum_to_size", "_mean_to_size", "prod", "cumsum", "bmm"),
}


def test_the_extents_of_the_search_are_enough_for_the_sums_of_the_table() -> None:
    """docs/proof.md: rules with up to nine sums over an axis; decompositions are algorithms."""
    for op in (op for op in own_table().ops if op.family != "decompositions"):
        for block in formulas(op):
            assert sum(call.function in SUMS for call in calls(block)) <= 9, op.name

"""Authors' mistakes: one edit of a good spec, one diagnostic."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.ir.nodes import Binary, Name
from gradspec_codegen.spec.model import AutoLinear, Formula, OpSpec, Table

Load = Callable[..., Table]
Mistakes = Callable[..., list[tuple[str, str]]]

GOOD = Path(__file__).parent / "good_specs"
SIN_AND_COS = (GOOD / "sin_and_cos.yaml").read_text("utf-8")
MAX = (GOOD / "max.yaml").read_text("utf-8")


def only(table: Table) -> OpSpec:
    (op,) = table.ops
    return op


# Every row edits SIN_AND_COS or MAX, and names the only mistake of the result.
EDITS = [
    (SIN_AND_COS, "grad * cos(self)", "grad * cos(slef)", "GS034", "slef"),
    (SIN_AND_COS, "grad * cos(self)", "grad * cos", "GS034", "cos"),
    (SIN_AND_COS, "grad * cos(self)", "grad_result * grad", "GS034", "grad_result"),
    (SIN_AND_COS, "grad * cos(self)", "grad * self_t", "GS034", "self_t"),
    (SIN_AND_COS, "np.sin(self)", "np.sin(grad)", "GS034", "grad"),
    (SIN_AND_COS, "np.sin(self)", "np.sin(result)", "GS034", "result"),
    (
        SIN_AND_COS,
        "self: grad * cos(self)",
        "self: |\n    if self.ndim == 0:\n      a = grad\n    return grad * a",
        "GS034",
        "a",
    ),
    (SIN_AND_COS, "grad * cos(self)", "grad * pi * inf * nan * self_", "GS034", "self_"),
    (
        SIN_AND_COS,
        "auto_element_wise\n- ",
        "grad * cos(self)\n  promotes: self\n- ",
        "GS034",
        "grad",
    ),
    (SIN_AND_COS, "grad * cos(self)", "grad * kos(self)", "GS035", "kos"),
    (SIN_AND_COS, "grad * cos(self)", "grad * self(2)", "GS035", "self"),
    (SIN_AND_COS, "grad * cos(self)", "grad * eval('1')", "GS035", "eval"),
    (SIN_AND_COS, "grad * cos(self)", "grad * isinstance(self, 1)", "GS035", "isinstance"),
    (SIN_AND_COS, "np.sin(self)", "np._sin(self)", "GS035", "np._sin"),
    (SIN_AND_COS, "np.sin(self)", "np.random.rand(self)", "GS035", "np.random.rand"),
    (SIN_AND_COS, "np.sin(self)", "kernels.a.b(self)", "GS035", "kernels.a.b"),
    (SIN_AND_COS, "grad * cos(self)", "grad * cos()", "GS036", "cos()"),
    (SIN_AND_COS, "grad * cos(self)", "grad * cos(self, 2)", "GS036", "cos(self, 2)"),
    (SIN_AND_COS, "grad * cos(self)", "grad * cos(x=self)", "GS036", "cos(x=self)"),
    (SIN_AND_COS, "grad * cos(self)", "grad * cos(self, self=1)", "GS036", "cos(self, self=1)"),
    (SIN_AND_COS, "grad * cos(self)", "grad * len(self, 1)", "GS036", "len(self, 1)"),
    (SIN_AND_COS, "grad * cos(self)", "where(self.ndim > 2, grad, 0)", "GS036", "self.ndim > 2"),
    (SIN_AND_COS, "grad * cos(self)", "where(not self.ndim, grad, 0)", "GS036", "not self.ndim"),
    (
        SIN_AND_COS,
        "self: grad * cos(self)",
        "self: |\n    pi = 3\n    return grad * pi",
        "GS037",
        "pi",
    ),
    (SIN_AND_COS, "grad * cos(self)", "grad * np.cos(self)", "GS038", "np.cos"),
    (
        SIN_AND_COS,
        "auto_element_wise\n- ",
        "self_t * sp.cos(self_p)\n  promotes: self\n- ",
        "GS038",
        "sp.cos",
    ),
    (SIN_AND_COS, "grad * cos(self)", "cos(self)", "GS045", "c"),
    (SIN_AND_COS, "grad * cos(self)", "(grad, grad)", "GS046", "(grad, grad)"),
    (
        SIN_AND_COS,
        "auto_element_wise\n- ",
        "auto_linear\n  promotes: self\n- ",
        "GS047",
        "auto_linear",
    ),
    (SIN_AND_COS, "doc: Sine.", "doc: [Sine]", "GS010", "["),
    (SIN_AND_COS, "doc: Sine.", "doc:", "GS010", ""),
    (SIN_AND_COS, "doc: Sine.", "int_to_float: 1", "GS010", "1"),
    (SIN_AND_COS, "doc: Sine.", "promotes: {self: 1}", "GS010", "{"),
    (SIN_AND_COS, "doc: Sine.", "promotes: [[self]]", "GS010", "["),
    (SIN_AND_COS, "doc: Sine.", "domain: positive", "GS010", "positive"),
    (SIN_AND_COS, "doc: Sine.", "kinks: [0]", "GS010", "["),
    (SIN_AND_COS, "doc: Sine.", "examples: {self: [2]}", "GS010", "{"),
    (SIN_AND_COS, "doc: Sine.", "examples: []", "GS010", "["),
    (SIN_AND_COS, "doc: Sine.", "examples: [2]", "GS010", "2"),
    (SIN_AND_COS, "doc: Sine.", "proof: numeric", "GS010", "numeric"),
    (SIN_AND_COS, "doc: Sine.", "proof: trust me", "GS010", "trust me"),
    (SIN_AND_COS, "doc: Sine.", "proof: 'numeric: '", "GS010", "'numeric: '"),
    (SIN_AND_COS, "doc: Sine.", "output_differentiability: true", "GS010", "true"),
    (SIN_AND_COS, "doc: Sine.", "output_differentiability: [1]", "GS010", "1"),
    (SIN_AND_COS, "doc: Sine.", "docs: Sine.", "GS012", "docs"),
    (SIN_AND_COS, "doc: Sine.", "family: trig", "GS012", "family"),
    (SIN_AND_COS, "doc: Sine.", "self, other: (grad, grad)", "GS012", "self, other"),
    (SIN_AND_COS, "doc: Sine.", "composite: cos(self)", "GS040", "composite"),
    (SIN_AND_COS, "doc: Sine.", "variants: Method", "GS051", "Method"),
    (SIN_AND_COS, "doc: Sine.", "python_module: torch, optim", "GS051", "optim"),
    (SIN_AND_COS, "doc: Sine.", "operators: __bool__", "GS051", "__bool__"),
    (SIN_AND_COS, "doc: Sine.", "aliases: sinus, cos", "GS050", "cos"),
    (SIN_AND_COS, "doc: Sine.", "aliases: two words", "GS024", "two words"),
    (SIN_AND_COS, "doc: Sine.", "node: Sine-Backward", "GS024", "Sine-Backward"),
    (SIN_AND_COS, "doc: Sine.", "same_dtype: self", "GS057", "self"),
    (SIN_AND_COS, "doc: Sine.", "layout: columns", "GS051", "columns"),
    (SIN_AND_COS, "doc: Sine.", "layout: [rows, self]", "GS049", "layout"),
    (SIN_AND_COS, "doc: Sine.", "domain: {slef: positive}", "GS056", "slef"),
    (SIN_AND_COS, "doc: Sine.", "domain: {self: 1 < 2}", "GS056", "1 < 2"),
    (SIN_AND_COS, "doc: Sine.", "domain: {self: self < other}", "GS056", "self < other"),
    (SIN_AND_COS, "doc: Sine.", "domain: {self: self == 1}", "GS056", "self == 1"),
    (SIN_AND_COS, "doc: Sine.", "domain: {self: f(self) < 1}", "GS056", "f(self) < 1"),
    (SIN_AND_COS, "doc: Sine.", "kinks: {self == 0: true}", "GS058", "true"),
    (SIN_AND_COS, "doc: Sine.", "kinks: {self == 0: [0]}", "GS058", "["),
    (SIN_AND_COS, "doc: Sine.", "kinks: {other == 0: 1}", "GS058", "other == 0"),
    (SIN_AND_COS, "doc: Sine.", "kinks: {self == 0: other}", "GS058", "other"),
    (SIN_AND_COS, "doc: Sine.", "kinks: {self == 0: 'lambda: 1'}", "GS058", "lambda: 1"),
    (SIN_AND_COS, "doc: Sine.", "examples: [{self: 2}]", "GS054", "2"),
    (SIN_AND_COS, "doc: Sine.", "examples: [{self: [-2]}]", "GS054", "-2"),
    (SIN_AND_COS, "doc: Sine.", "examples: [{self: [true]}]", "GS054", "true"),
    (SIN_AND_COS, "doc: Sine.", "examples: [{self: null}]", "GS054", "null"),
    (SIN_AND_COS, "doc: Sine.", "examples: [{self: {int: [1.5]}}]", "GS054", "1.5"),
    (SIN_AND_COS, "doc: Sine.", "examples: [{self: {bool: [1]}}]", "GS054", "1"),
    (SIN_AND_COS, "doc: Sine.", "examples: [{self: {str: [a]}}]", "GS054", "{"),
    (SIN_AND_COS, "doc: Sine.", "examples: [{}]", "GS053", "{"),
    (MAX, "dim: 1}", "dim: 1.5}", "GS054", "1.5"),
    (MAX, "dim: 1}", "dim: [1]}", "GS054", "["),
    (MAX, "dim: 1}", "dim: 1, keepdim: 0}", "GS054", "0"),
    (MAX, "shape: [2], keepdim", "shape: 2, keepdim", "GS054", "2"),
    (MAX, "[2, 3], dim: 1}", "[2, 3]}", "GS053", "{"),
    (MAX, "  values: kernel", "  indices: auto_linear\n  values: kernel", "GS049", "indices"),
    (MAX, "[true, false]", "[true]", "GS049", "output_differentiability"),
    (MAX, "  indices: non_differentiable\n", "", "GS043", "indices"),
    (MAX, "  indices: non", "  dim: auto\n  indices: non", "GS042", "dim"),
    (MAX, "grad, dim", "grad_values, dim", "GS034", "grad_values"),
]


@pytest.mark.parametrize(("text", "old", "new", "code", "place"), EDITS)
def test_one_edit_one_mistake(
    mistakes: Mistakes, text: str, old: str, new: str, code: str, place: str
) -> None:
    assert text.count(old) == 1
    assert mistakes(text.replace(old, new)) == [(code, place)]


LINEAR = """\
- name: f(Tensor self, Tensor other, *, Scalar n=2) -> Tensor
  forward: FORWARD
  self: grad * n
  other: grad * n
  result: auto_linear
  promotes: self, other
"""


@pytest.mark.parametrize(
    ("forward", "is_linear"),
    [
        ("self + other", True),
        ("self * n - other / n", True),
        ("self * self.shape[0] + other", True),
        ("self * float(2) ** n + other", True),
        ("np.exp(n) * self + other", True),
        ("kernels.dot(self, other)", True),
        ("self ** 1 + other", True),
        ("self * other", False),
        ("self @ -other", False),
        ("self + other / (2 * self)", False),
        ("n / other", False),
        ("self ** 2", False),
        ("n ** self", False),
        ("other + np.exp(3 * self)", False),
        ("np.maximum(self, other)", False),
    ],
)
def test_auto_linear_is_refused_only_where_it_is_surely_wrong(
    load: Load, mistakes: Mistakes, forward: str, is_linear: bool
) -> None:
    text = LINEAR.replace("FORWARD", forward)
    if is_linear:
        assert isinstance(only(load(text)).jvps[0][1], AutoLinear)
    else:
        assert mistakes(text) == [("GS047", "auto_linear")]


def test_auto_linear_on_a_block_is_left_to_the_proof(load: Load) -> None:
    forward = "|\n    part = self * self\n    return part + other"
    assert isinstance(only(load(LINEAR.replace("FORWARD", forward))).jvps[0][1], AutoLinear)


def test_calls_may_fit_any_overload(load: Load) -> None:
    text = textwrap.dedent("""\
        - name: g(Tensor self) -> Tensor
          composite: h(self) + h(self, 1) + h(self, dim=1, keepdim=True) + k(self, 1)
          examples: [{self: [2]}]
        - name: h(Tensor self) -> Tensor
          composite: self + self
          examples: [{self: [2]}]
        - name: h.dim(Tensor self, int dim, *, bool keepdim=False) -> Tensor
          composite: self * dim
          aliases: k
          examples: [{self: [2], dim: 0}]
        """)
    assert len(load(text).ops) == 3
    bad = text.replace("k(self, 1)", "h(self, 1, True)")
    with pytest.raises(SpecError) as caught:
        load(bad)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("GS036", "no overload of `h` fits")
    assert found.help == "it is `h(self)` or `h(self, dim, *, keepdim=False)`"


def test_a_circle_of_definitions_is_told_with_its_way(load: Load) -> None:
    entry = (
        "- name: {}(Tensor self) -> Tensor\n  composite: {}(self)\n  examples: [{{self: [2]}}]\n"
    )
    text = entry.format("a", "b") + entry.format("b", "c") + entry.format("c", "b")
    with pytest.raises(SpecError) as caught:
        load(text)
    assert [d.message for d in caught.value.diagnostics] == [
        "a definition in a circle: `b` calls `c` calls `b`",
        "a definition in a circle: `c` calls `b` calls `c`",
    ]


def test_an_op_without_a_differentiable_output_needs_no_rules(
    load: Load, mistakes: Mistakes
) -> None:
    text = textwrap.dedent("""\
        - name: rank(Tensor self) -> int
          forward: len(self.shape)
          examples: [{self: [2, 3]}]
        - name: floor(Tensor self) -> Tensor
          forward: np.floor(self)
          promotes: self
          output_differentiability: [false]
        """)
    assert [op.vjps + op.jvps for op in load(text).ops] == [(), ()]
    flagged = text.replace("[{self: [2, 3]}]", "[{self: [2]}]\n  output_differentiability: [true]")
    assert mistakes(flagged) == [("GS049", "output_differentiability")]
    with_rule = text + "  self: grad\n"
    assert mistakes(with_rule) == [("GS034", "grad")]


def test_an_argument_called_grad_something_is_not_the_gradient(
    load: Load, mistakes: Mistakes
) -> None:
    text = textwrap.dedent("""\
        - name: relu_backward(Tensor grad_output, Tensor self) -> Tensor
          forward: kernels.times(grad_output, self)
          grad_output: relu_backward(grad, self)
          self: non_differentiable
          result: relu_backward(grad_output_t, self)
          promotes: grad_output, self
        """)
    assert only(load(text)).differentiable_params == ("grad_output",)
    lost = text.replace("relu_backward(grad, self)", "relu_backward(grad_output, self)")
    assert mistakes(lost) == [("GS045", "r")]


def test_several_differentiable_outputs_have_named_gradients(
    load: Load, mistakes: Mistakes
) -> None:
    text = textwrap.dedent("""\
        - name: both(Tensor self) -> (Tensor low, Tensor high)
          forward: (self - 1, self + 1)
          self: grad_low + grad_high
          low: auto_linear
          high: auto_linear
          examples: [{self: [2]}]
        """)
    rule = only(load(text)).rule("self")
    assert isinstance(rule, Formula)
    assert rule.block.expression == Binary("+", Name("grad_low"), Name("grad_high"))
    assert mistakes(text.replace("grad_low + grad_high", "grad + grad_low")) == [("GS034", "grad")]

"""Spec files to a table: what is read, and the mistakes that span a whole entry or table."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path

import pytest
from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.ir.nodes import Binary, Name, TextSpan
from gradspec_codegen.ir.parse import parse
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import (
    Auto,
    AutoElementwise,
    AutoLinear,
    Formula,
    NonDifferentiable,
    NotImplementedYet,
    OpSpec,
    Table,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SIN_AND_COS = """\
- name: sin(Tensor self) -> Tensor
  doc: Sine.
  forward: np.sin(self)
  self: grad * cos(self)
  result: auto_element_wise
- name: cos(Tensor self) -> Tensor
  doc: Cosine.
  forward: np.cos(self)
  self: -grad * sin(self)
  result: auto_element_wise
"""

MAX = """\
- name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
  forward: kernels.max_with_indices(self, dim, keepdim)
  self: kernel_like(grad, dim, indices, self.shape, keepdim)
  values: kernel_like(self_t, dim, indices, self_p.shape, keepdim)
  output_differentiability: [true, false]
  examples:
    - {self: [2, 3], dim: 1}
- name: kernel_like(Tensor self, int dim, Tensor indices, int[] shape, bool keepdim) -> Tensor
  forward: kernels.kernel_like(self, dim, indices, shape, keepdim)
  self: auto
  indices: non_differentiable
  result: auto_linear
  examples:
    - {self: [2], dim: 0, indices: {int: [0, 1]}, shape: [2], keepdim: false}
"""


def load(tmp_path: Path, text: str, *, base: Table | None = None) -> Table:
    path = tmp_path / "ops.yaml"
    path.write_text(text, encoding="utf-8")
    return load_table(path, base=base)


def mistakes(tmp_path: Path, text: str, *, base: Table | None = None) -> list[tuple[str, str]]:
    """`(code, the characters it points at)` of every mistake of a table."""
    with pytest.raises(SpecError) as caught:
        load(tmp_path, text, base=base)
    lines = text.split("\n")
    found = []
    for diagnostic in caught.value.diagnostics:
        span = diagnostic.span
        start = span.column - 1
        found.append((diagnostic.code, lines[span.line - 1][start : start + span.width]))
    return found


def only(table: Table) -> OpSpec:
    (op,) = table.ops
    return op


def test_a_plain_entry(tmp_path: Path) -> None:
    sin, cos = load(tmp_path, SIN_AND_COS).ops
    assert (sin.name, sin.family, sin.doc, sin.variants) == ("sin", "ops", "Sine.", ("function",))
    assert sin.forward is not None
    assert sin.forward.block == parse("np.sin(self)")
    ((names, rule),) = cos.vjps
    assert names == ("self",)
    assert isinstance(rule, Formula)
    assert (rule.text, rule.block) == ("-grad * sin(self)", parse("-grad * sin(self)"))
    ((output, tangent_rule),) = cos.jvps
    assert output == "result"
    assert isinstance(tangent_rule, AutoElementwise)
    assert (sin.proof, sin.proof_reason, sin.composite, sin.examples) == ("symbolic", "", None, ())


def test_every_metadata_key(tmp_path: Path) -> None:
    op = only(
        load(
            tmp_path,
            textwrap.dedent("""\
            - name: scale.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
              doc: >-
                Elementwise product,
                `alpha` times.
              forward: self * other * alpha
              self, other: (grad * other * alpha, grad * self * alpha)
              result: (self_t * other_p + self_p * other_t) * alpha
              promotes: [self, other]
              int_to_float: true
              domain: {self: positive, other: -1 < other <= 1}
              kinks: {"self == 0": 0, "self == other": alpha / 2}
              variants: function, method
              python_module: nn
              operators: __mul__, __rmul__
              aliases: [times]
              proof: {numeric: for the test}
              examples:
                - {self: [2, 1], other: [3], alpha: 0.5}
                - self: {float: [[1, 2.5]]}
                  other: []
            """),
        )
    )
    assert op.name == "scale.Tensor"
    assert op.doc == "Elementwise product, `alpha` times."
    assert [names for names, _ in op.vjps] == [("self", "other")]
    assert op.rule("other") is op.vjps[0][1]
    assert op.promotes == ("self", "other")
    assert op.int_to_float is True
    assert op.domain == (("self", "positive"), ("other", "-1 < other <= 1"))
    assert op.kinks == (("self == 0", 0), ("self == other", "alpha / 2"))
    assert op.variants == ("function", "method")
    assert op.python_module == "nn"
    assert op.operators == ("__mul__", "__rmul__")
    assert op.aliases == ("times",)
    assert (op.proof, op.proof_reason) == ("numeric", "for the test")
    assert [example.args for example in op.examples] == [
        (("self", [2, 1]), ("other", [3]), ("alpha", 0.5)),
        (("self", {"float": [[1, 2.5]]}), ("other", [])),
    ]
    assert [example.span.line for example in op.examples] == [18, 19]


def test_outputs_without_a_gradient(tmp_path: Path) -> None:
    table = load(tmp_path, MAX)
    (max_op,) = table.overloads("max")
    assert max_op.output_differentiability == (True, False)
    assert [output.name for output in max_op.differentiable_outputs] == ["values"]
    assert [name for name, _ in max_op.jvps] == ["values"]
    like = table.ops[1]
    assert isinstance(like.rule("self"), Auto)
    assert isinstance(like.rule("indices"), NonDifferentiable)
    assert like.differentiable_params == ("self",)


@pytest.mark.parametrize(
    "written",
    [
        '"not_implemented: no formula yet"',
        "{not_implemented: no formula yet}",
        'not_implemented("no formula yet")',
        "not_implemented('no formula yet')",
    ],
)
def test_not_implemented_in_every_spelling(tmp_path: Path, written: str) -> None:
    text = SIN_AND_COS.replace("-grad * sin(self)", written).replace(
        "auto_element_wise", "auto_element_wise\n  promotes: self"
    )
    rule = load(tmp_path, text).ops[1].rule("self")
    assert isinstance(rule, NotImplementedYet)
    assert rule.reason == "no formula yet"


def test_a_block_keeps_its_lines_and_places(tmp_path: Path) -> None:
    text = SIN_AND_COS.replace(
        "-grad * sin(self)", "|\n    slope = sin(self)\n    return -grad * slope"
    )
    rule = load(tmp_path, text).ops[1].rule("self")
    assert isinstance(rule, Formula)
    assert rule.text == "slope = sin(self)\nreturn -grad * slope\n"
    place = rule.locate(TextSpan(rule.text.index("slope", 5), rule.text.index("slope", 5) + 5))
    assert (place.line, place.column, place.width) == (11, 20, 5)


def test_families_and_includes(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "inner.yaml").write_text(
        SIN_AND_COS.replace("sin", "sin2").replace("cos", "cos2").split("- name: cos2")[0]
        + "- family: waves\n- name: cos2"
        + SIN_AND_COS.replace("sin", "sin2").replace("cos", "cos2").split("- name: cos2")[1],
        encoding="utf-8",
    )
    text = "- family: trig\n- include: more/inner.yaml\n" + SIN_AND_COS
    table = load(tmp_path, text)
    assert [(op.name, op.family) for op in table.ops] == [
        ("sin2", "inner"),
        ("cos2", "waves"),
        ("sin", "trig"),
        ("cos", "trig"),
    ]
    assert table.ops[0].span.path == str(tmp_path / "more" / "inner.yaml")


def test_an_empty_file_is_an_empty_table(tmp_path: Path) -> None:
    assert load(tmp_path, "# nothing yet\n") == Table(())


@pytest.mark.parametrize(
    "target", ["../x.yaml", "/etc/passwd", "a/../../x.yaml", "ops.yaml", "./a/../ops.yaml", "~/x"]
)
def test_includes_stay_inside_and_happen_once(tmp_path: Path, target: str) -> None:
    (tmp_path / "a").mkdir()
    code = "GS001" if target == "~/x" else "GS013"
    assert mistakes(tmp_path, f"- include: {target}\n") == [(code, target)]


def test_a_link_does_not_lead_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text(SIN_AND_COS, encoding="utf-8")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link.yaml").symlink_to(outside)
    assert mistakes(inside, "- include: link.yaml\n") == [("GS013", "link.yaml")]


def test_a_cycle_of_includes_is_reported_where_it_closes(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("- include: ops.yaml\n", encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load(tmp_path, "- include: b.yaml\n")
    (found,) = caught.value.diagnostics
    assert (found.code, str(found.span)) == ("GS013", f"{tmp_path / 'b.yaml'}:1:12")


def test_the_mistakes_of_all_files_come_together(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("- nonsense\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text("{", encoding="utf-8")
    text = "- include: a.yaml\n- include: b.yaml\n" + SIN_AND_COS.replace("cos(self)", "cos(slef)")
    with pytest.raises(SpecError) as caught:
        load(tmp_path, text)
    found = [(Path(d.span.path).name, d.code) for d in caught.value.diagnostics]
    assert found == [
        ("a.yaml", "GS011"),
        ("b.yaml", "GS004"),
        ("ops.yaml", "GS034"),
        ("ops.yaml", "GS034"),
    ]


def test_a_base_table_may_be_called_but_not_declared_again(tmp_path: Path) -> None:
    base = load(tmp_path, SIN_AND_COS)
    mine = textwrap.dedent("""\
        - name: sinc(Tensor self) -> Tensor
          forward: sin(self) / self
          self: grad * (cos(self) / self - sin(self) / self ** 2)
          result: auto_element_wise
        """)
    assert [op.name for op in load(tmp_path, mine, base=base).ops] == ["sinc"]
    assert {code for code, _ in mistakes(tmp_path, mine)} == {"GS035"}
    assert mistakes(tmp_path, SIN_AND_COS, base=base) == [
        ("GS050", "sin(Tensor self) -> Tensor"),
        ("GS050", "cos(Tensor self) -> Tensor"),
    ]


def test_a_broken_signature_does_not_make_its_callers_wrong(tmp_path: Path) -> None:
    text = SIN_AND_COS.replace("cos(Tensor", "cos(Tenser")
    assert mistakes(tmp_path, text) == [("GS021", "Tenser")]


def test_a_broken_formula_is_not_reported_as_a_missing_one(tmp_path: Path) -> None:
    text = SIN_AND_COS.replace("grad * cos(self)", "grad cos(self)").replace("np.cos(self)", "cos(")
    assert [code for code, _ in mistakes(tmp_path, text)] == ["GS030", "GS030"]


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
    tmp_path: Path, text: str, old: str, new: str, code: str, place: str
) -> None:
    assert text.count(old) == 1
    assert mistakes(tmp_path, text.replace(old, new)) == [(code, place)]


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
        ("kernels.anything(self, other)", True),
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
    tmp_path: Path, forward: str, is_linear: bool
) -> None:
    text = LINEAR.replace("FORWARD", forward)
    if is_linear:
        assert isinstance(only(load(tmp_path, text)).jvps[0][1], AutoLinear)
    else:
        assert mistakes(tmp_path, text) == [("GS047", "auto_linear")]


def test_calls_may_fit_any_overload(tmp_path: Path) -> None:
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
    assert len(load(tmp_path, text).ops) == 3
    bad = text.replace("k(self, 1)", "h(self, 1, True)")
    with pytest.raises(SpecError) as caught:
        load(tmp_path, bad)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("GS036", "no overload of `h` fits")
    assert found.help == "it is `h(self)` or `h(self, dim, *, keepdim=False)`"


def test_a_circle_of_definitions_is_told_with_its_way(tmp_path: Path) -> None:
    entry = (
        "- name: {}(Tensor self) -> Tensor\n  composite: {}(self)\n  examples: [{{self: [2]}}]\n"
    )
    text = entry.format("a", "b") + entry.format("b", "c") + entry.format("c", "b")
    with pytest.raises(SpecError) as caught:
        load(tmp_path, text)
    assert [d.message for d in caught.value.diagnostics] == [
        "a definition in a circle: `b` calls `c` calls `b`",
        "a definition in a circle: `c` calls `b` calls `c`",
    ]


def test_an_op_without_a_differentiable_output_needs_no_rules(tmp_path: Path) -> None:
    text = textwrap.dedent("""\
        - name: rank(Tensor self) -> int
          forward: len(self.shape)
          examples: [{self: [2, 3]}]
        - name: floor(Tensor self) -> Tensor
          forward: np.floor(self)
          promotes: self
          output_differentiability: [false]
        """)
    assert [op.vjps + op.jvps for op in load(tmp_path, text).ops] == [(), ()]
    with_rule = text + "  self: grad\n"
    assert mistakes(tmp_path, with_rule) == [("GS034", "grad")]


def test_an_argument_called_grad_something_is_not_the_gradient(tmp_path: Path) -> None:
    text = textwrap.dedent("""\
        - name: relu_backward(Tensor grad_output, Tensor self) -> Tensor
          forward: kernels.relu_backward(grad_output, self)
          grad_output: relu_backward(grad, self)
          self: non_differentiable
          result: relu_backward(grad_output_t, self)
          promotes: grad_output, self
        """)
    assert only(load(tmp_path, text)).differentiable_params == ("grad_output",)
    lost = text.replace("relu_backward(grad, self)", "relu_backward(grad_output, self)")
    assert mistakes(tmp_path, lost) == [("GS045", "r")]


def test_several_differentiable_outputs_have_named_gradients(tmp_path: Path) -> None:
    text = textwrap.dedent("""\
        - name: both(Tensor self) -> (Tensor low, Tensor high)
          forward: (self - 1, self + 1)
          self: grad_low + grad_high
          low: auto_linear
          high: auto_linear
          examples: [{self: [2]}]
        """)
    rule = only(load(tmp_path, text)).rule("self")
    assert isinstance(rule, Formula)
    assert rule.block.expression == Binary("+", Name("grad_low"), Name("grad_high"))
    assert mistakes(tmp_path, text.replace("grad_low + grad_high", "grad + grad_low")) == [
        ("GS034", "grad")
    ]


HOSTILE_FORMULAS = {
    "parentheses": "(" * 10**6,
    "dunder": "grad.__class__.__bases__[0]",
    "import": "__import__('os').system('true')",
    "power": "grad * 9 ** 9 ** 9 ** kos",
    "long word": "grad * " + "x" * 100_000,
    "megabytes": "grad + " * 400_000,
}


@pytest.mark.parametrize("formula", HOSTILE_FORMULAS.values(), ids=HOSTILE_FORMULAS)
def test_a_hostile_formula_is_located_quickly(tmp_path: Path, formula: str) -> None:
    text = SIN_AND_COS.replace("grad * cos(self)", formula)
    start = time.perf_counter()
    with pytest.raises(SpecError) as caught:
        load(tmp_path, text)
    assert time.perf_counter() - start < 2
    assert {d.span.line for d in caught.value.diagnostics} == {4}


def test_a_table_of_ten_thousand_lines_loads_in_seconds(tmp_path: Path) -> None:
    entries = [SIN_AND_COS.replace("sin", f"sin{i}").replace("cos", f"cos{i}") for i in range(1000)]
    start = time.perf_counter()
    assert len(load(tmp_path, "".join(entries)).ops) == 2000
    assert time.perf_counter() - start < 10


PIECES = [line + "\n" for line in (SIN_AND_COS + MAX).splitlines()]
BITS = [
    "self",
    "grad",
    ": ",
    "- ",
    "[",
    "}",
    "\n",
    "  ",
    "'",
    "|",
    "&",
    "np.",
    "(",
    "auto",
    "1",
    "{",
]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(),
        st.lists(st.sampled_from([*PIECES, *BITS])).map(lambda parts: "".join(parts).encode()),
    )
)
def test_any_bytes_are_a_table_or_a_spec_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "any.yaml"
    path.write_bytes(data)
    try:
        names = [op.name for op in load_table(path).ops]
    except SpecError as error:
        names = [diagnostic.code for diagnostic in error.diagnostics]
        assert names
    assert all(isinstance(name, str) for name in names)

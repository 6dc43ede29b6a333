"""Spec files to a table: families, includes, entries, and hostile files."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.ir.nodes import TextSpan
from gradspec_codegen.ir.parse import parse
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import (
    Auto,
    AutoElementwise,
    Formula,
    NonDifferentiable,
    NotImplementedYet,
    OpSpec,
    Table,
)

Load = Callable[..., Table]
Mistakes = Callable[..., list[tuple[str, str]]]

GOOD = Path(__file__).parent / "good_specs"
SIN_AND_COS = (GOOD / "sin_and_cos.yaml").read_text("utf-8")
MAX = (GOOD / "max.yaml").read_text("utf-8")


def only(table: Table) -> OpSpec:
    (op,) = table.ops
    return op


def test_a_plain_entry(load: Load) -> None:
    sin, cos = load(SIN_AND_COS).ops
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


def test_every_metadata_key(load: Load) -> None:
    op = only(
        load(
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


def test_outputs_without_a_gradient(load: Load) -> None:
    table = load(MAX)
    (max_op,) = table.overloads("max")
    assert max_op.output_differentiability == (True, False)
    assert [output.name for output in max_op.differentiable_outputs] == ["values"]
    assert [name for name, _ in max_op.jvps] == ["values"]
    like = table.ops[1]
    assert isinstance(like.rule("self"), Auto)
    assert isinstance(like.rule("indices"), NonDifferentiable)
    assert like.differentiable_params == ("self",)


def test_examples_of_every_type(load: Load) -> None:
    text = textwrap.dedent("""\
        - name: f(Tensor? x, Tensor[] xs, Tensor?[] maybe, int[2] size, int[]? dims, float p,
            Scalar s, bool b, str mode, ScalarType dtype, Generator? g=None) -> Tensor
          forward: x
          output_differentiability: [false]
          examples:
            - {x: null, xs: [[2], {int: [0]}], maybe: [null, []], size: 3, dims: null, p: 1,
               s: inf, b: true, mode: mean, dtype: int64, g: null}
            - {x: [1], xs: [], maybe: [], size: [3, 4], dims: [0, -1], p: 0.5,
               s: false, b: false, mode: "2", dtype: float32}
        """)
    first, second = only(load(text)).examples
    assert dict(first.args) == {
        "x": None,
        "xs": [[2], {"int": [0]}],
        "maybe": [None, []],
        "size": 3,
        "dims": None,
        "p": 1,
        "s": math.inf,
        "b": True,
        "mode": "mean",
        "dtype": "int64",
        "g": None,
    }
    assert dict(second.args) == {
        "x": [1],
        "xs": [],
        "maybe": [],
        "size": [3, 4],
        "dims": [0, -1],
        "p": 0.5,
        "s": False,
        "b": False,
        "mode": "2",
        "dtype": "float32",
    }


def test_the_reason_of_a_numeric_proof_may_be_a_text(load: Load) -> None:
    op = load(
        "- name: f() -> int\n  forward: 1\n  examples: [{}]\n  proof: 'numeric: no model'\n"
    ).ops[0]
    assert (op.proof, op.proof_reason) == ("numeric", "no model")


@pytest.mark.parametrize(
    ("item", "code", "place"),
    [
        ("family: [trig]", "GS010", "f"),
        ("family: names", "GS014", "names"),
        ("family: _private", "GS014", "_private"),
        ("family: class", "GS014", "class"),
        ("family: trig\n  doc: waves", "GS012", "doc"),
        ('include: "\\0"', "GS013", '"\\0"'),
        ("[family, trig]", "GS011", "["),
        ("trig", "GS011", "trig"),
        ("doc: waves", "GS011", "d"),
    ],
)
def test_an_item_that_is_refused(mistakes: Mistakes, item: str, code: str, place: str) -> None:
    assert mistakes(f"- {item}\n") == [(code, place)]


def test_a_file_that_is_no_list_is_refused(mistakes: Mistakes) -> None:
    assert mistakes("name: sin(Tensor self) -> Tensor\n") == [("GS011", "n")]


def test_a_file_name_that_is_no_family_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "my-ops.yaml"
    path.write_text(SIN_AND_COS, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_table(path)
    assert [(d.code, d.span.line) for d in caught.value.diagnostics] == [("GS014", 1)]


@pytest.mark.parametrize(
    "written",
    [
        '"not_implemented: no formula yet"',
        "{not_implemented: no formula yet}",
        'not_implemented("no formula yet")',
        "not_implemented('no formula yet')",
    ],
)
def test_not_implemented_in_every_spelling(load: Load, written: str) -> None:
    text = SIN_AND_COS.replace("-grad * sin(self)", written).replace(
        "auto_element_wise", "auto_element_wise\n  promotes: self"
    )
    rule = load(text).ops[1].rule("self")
    assert isinstance(rule, NotImplementedYet)
    assert rule.reason == "no formula yet"


def test_a_block_keeps_its_lines_and_places(load: Load) -> None:
    text = SIN_AND_COS.replace(
        "-grad * sin(self)", "|\n    slope = sin(self)\n    return -grad * slope"
    )
    rule = load(text).ops[1].rule("self")
    assert isinstance(rule, Formula)
    assert rule.text == "slope = sin(self)\nreturn -grad * slope\n"
    place = rule.locate(TextSpan(rule.text.index("slope", 5), rule.text.index("slope", 5) + 5))
    assert (place.line, place.column, place.width) == (11, 20, 5)


def numbered(number: int) -> str:
    """The same ops under other names."""
    return re.sub(r"(?<!np\.)\b(sin|cos)\b", rf"\g<1>{number}", SIN_AND_COS)


def test_families_and_includes(load: Load, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "inner.yaml").write_text(
        numbered(2).split("- name: cos2")[0]
        + "- family: waves\n- name: cos2"
        + numbered(2).split("- name: cos2")[1],
        encoding="utf-8",
    )
    text = "- family: trig\n- include: more/inner.yaml\n" + SIN_AND_COS
    table = load(text)
    assert [(op.name, op.family) for op in table.ops] == [
        ("sin2", "inner"),
        ("cos2", "waves"),
        ("sin", "trig"),
        ("cos", "trig"),
    ]
    assert table.ops[0].span.path == str(tmp_path / "more" / "inner.yaml")


def test_an_empty_file_is_an_empty_table(load: Load) -> None:
    assert load("# nothing yet\n") == Table(())


@pytest.mark.parametrize(
    "target", ["../x.yaml", "/etc/passwd", "a/../../x.yaml", "ops.yaml", "./a/../ops.yaml", "~/x"]
)
def test_includes_stay_inside_and_happen_once(
    mistakes: Mistakes, tmp_path: Path, target: str
) -> None:
    (tmp_path / "a").mkdir()
    code = "GS001" if target == "~/x" else "GS013"
    assert mistakes(f"- include: {target}\n") == [(code, target)]


def test_a_link_does_not_lead_out(mistakes: Mistakes, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}.yaml"
    outside.write_text(SIN_AND_COS, encoding="utf-8")
    (tmp_path / "link.yaml").symlink_to(outside)
    assert mistakes("- include: link.yaml\n") == [("GS013", "link.yaml")]


def test_a_cycle_of_includes_is_reported_where_it_closes(load: Load, tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("- include: ops.yaml\n", encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load("- include: b.yaml\n")
    (found,) = caught.value.diagnostics
    assert (found.code, str(found.span)) == ("GS013", f"{tmp_path / 'b.yaml'}:1:12")


def test_the_mistakes_of_all_files_come_together(load: Load, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("- nonsense\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text("{", encoding="utf-8")
    text = "- include: a.yaml\n- include: b.yaml\n" + SIN_AND_COS.replace("cos(self)", "cos(slef)")
    with pytest.raises(SpecError) as caught:
        load(text)
    found = [(Path(d.span.path).name, d.code) for d in caught.value.diagnostics]
    assert found == [
        ("a.yaml", "GS011"),
        ("b.yaml", "GS004"),
        ("ops.yaml", "GS034"),
        ("ops.yaml", "GS034"),
    ]


def test_a_base_table_may_be_called_but_not_declared_again(load: Load, mistakes: Mistakes) -> None:
    base = load(SIN_AND_COS)
    mine = textwrap.dedent("""\
        - name: sinc(Tensor self) -> Tensor
          forward: sin(self) / self
          self: grad * (cos(self) / self - sin(self) / self ** 2)
          result: auto_element_wise
        """)
    assert [op.name for op in load(mine, base=base).ops] == ["sinc"]
    assert {code for code, _ in mistakes(mine)} == {"GS035"}
    assert mistakes(SIN_AND_COS, base=base) == [
        ("GS050", "sin(Tensor self) -> Tensor"),
        ("GS050", "cos(Tensor self) -> Tensor"),
    ]


def test_a_broken_signature_does_not_make_its_callers_wrong(mistakes: Mistakes) -> None:
    text = SIN_AND_COS.replace("cos(Tensor", "cos(Tenser")
    assert mistakes(text) == [("GS021", "Tenser")]


def test_a_broken_formula_is_not_reported_as_a_missing_one(mistakes: Mistakes) -> None:
    text = SIN_AND_COS.replace("grad * cos(self)", "grad cos(self)").replace("np.cos(self)", "cos(")
    assert [code for code, _ in mistakes(text)] == ["GS030", "GS030"]


HOSTILE_FORMULAS = {
    "parentheses": "(" * 10**6,
    "dunder": "grad.__class__.__bases__[0]",
    "import": "__import__('os').system('true')",
    "power": "grad * 9 ** 9 ** 9 ** kos",
    "long word": "grad * " + "x" * 100_000,
    "megabytes": "grad + " * 400_000,
}


@pytest.mark.parametrize("formula", HOSTILE_FORMULAS.values(), ids=HOSTILE_FORMULAS)
@pytest.mark.usefixtures("has_an_end")
def test_a_hostile_formula_is_located(load: Load, formula: str) -> None:
    text = SIN_AND_COS.replace("grad * cos(self)", formula)
    with pytest.raises(SpecError) as caught:
        load(text)
    assert {d.span.line for d in caught.value.diagnostics} == {4}


@pytest.mark.usefixtures("has_an_end")
def test_a_table_of_ten_thousand_lines_loads(load: Load) -> None:
    entries = [numbered(i) for i in range(1000)]
    assert len(load("".join(entries)).ops) == 2000


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

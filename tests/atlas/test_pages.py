"""The pages of the atlas, from the table and the lock."""

from __future__ import annotations

import math
import re

import pytest

from atlas.accuracy import Along, Measured, Row
from atlas.along import along_picture
from atlas.benchmarks import benchmarks_page, plot
from atlas.compiled import c_of
from atlas.errors import errors_picture
from atlas.facts import OpFacts, apart, facts_of, written_definitions
from atlas.mathml import mathml
from atlas.pages import TITLES, index_page, op_page, private_page, spellings
from atlas.second import second_derivatives
from benchmarks.accuracy.along import along
from gradspec_codegen import pipeline
from gradspec_codegen.pipeline import Plan, plan
from gradspec_codegen.spec.model import Table
from gradspec_codegen.target import Target, builtin_spec
from tests.meta.source_tree import ROOT

OPS = ("relu", "add.Tensor", "sort", "_threshold_backward", "softplus", "linalg_eig", "layer_norm")
FAR = along([-1.0, 0.0, 3.0, 1e9], [0.0, 1e-10, None, math.inf])
ERRORS = Measured(
    {"relu": [Row("VJP of self", "float32", "", {"gradspec": 0.0, "JAX": None}, 2e-6)]},
    {"relu": [Along("VJP of self", "float32", "", {"gradspec": FAR, "JAX": FAR[::-1]})]},
    left={"linalg_eig": "no symbols stand for its roots"},
    facts={"relu": {"date": "2026-01-02", "numpy": "2"}},
)


@pytest.fixture(scope="module")
def table() -> Table:
    return pipeline.builtin_table()


@pytest.fixture(scope="module")
def planned(table: Table) -> Plan:
    with pytest.MonkeyPatch.context() as patched:  # the table is read once
        patched.setattr(pipeline, "known_ops", lambda _: pipeline.Known(table))
        return plan(Target(builtin_spec(), ROOT / "generated"))


@pytest.fixture(scope="module")
def facts(planned: Plan) -> dict[str, OpFacts]:
    target = Target(builtin_spec(), ROOT / "generated")
    return {name: facts_of(planned.table.by_name(name), planned, target, ERRORS) for name in OPS}


def page(facts: dict[str, OpFacts], name: str) -> str:
    each = facts[name]
    sources = {(name, framework): f"# {framework}" for framework in TITLES}
    short = each.op.signature.name
    return op_page(short, [each], sources, facts)


def test_a_page_says_what_happens_at_the_kink(facts: dict[str, OpFacts]) -> None:
    text = page(facts, "relu")
    assert "the gradient is <code>0 * grad</code> where <code>self == 0</code>" in text
    assert "at the kinks: 0 at 0" in text
    assert 'class="kink"' in text
    line = facts["relu"].line
    assert f'href="../table/activations.html#line-{line}"' in text
    entry = (ROOT / "specs/families/activations.yaml").read_text("utf-8").splitlines()[line - 1]
    assert entry == "- name: relu(Tensor self) -> Tensor"


def test_a_composite_shows_the_gradients_of_its_parts(planned: Plan) -> None:
    target = Target(builtin_spec(), ROOT / "generated")
    found = facts_of(planned.table.by_name("softmax.int"), planned, target, ERRORS)
    rules = {(name, of): tex for name, of, tex in found.rules_of_parts}
    assert "mathit{dim}" in rules["_softmax", "self"]
    text = page({"softmax.int": found}, "softmax.int")
    assert (
        'Gradient of <a href="_softmax.html"><code>_softmax</code></a> by <code>self</code>' in text
    )
    assert "the nodes keep" in text


def test_a_page_says_why_there_are_no_errors(facts: dict[str, OpFacts]) -> None:
    assert "measured</a>: no symbols stand for its roots." in page(facts, "linalg_eig")
    assert "measured</a>: no digits are known of it" in page(facts, "sort")
    assert "2026-01-02; numpy 2" in page(facts, "relu")


def test_a_page_says_what_was_proved_and_saved(facts: dict[str, OpFacts]) -> None:
    text = page(facts, "relu")
    proof = facts["relu"].proof
    assert proof is not None
    assert f"proved: {proof.identities} identities on symbols" in text
    assert "result, for the gradient of self" in text
    assert "the node keeps 12 bytes: float32 [3]" in text
    assert "<strong>no digit</strong>" in text
    for framework in ("numpy", "torch", "jax", "c"):
        assert '<div class="tabbed-block"><div class="highlight"><pre><span></span><code>' in text
        assert framework in text


def test_an_example_is_run(facts: dict[str, OpFacts]) -> None:
    found = facts["add.Tensor"].program
    assert found is not None
    assert "y = gs.add(" in found.code
    assert "AddBackward0" in found.printed
    assert facts["_threshold_backward"].program is None


def test_most_pages_have_an_example(table: Table) -> None:
    from atlas.calls import program
    from gradspec.dispatch.registry import import_all

    import_all()
    public = [op for op in table.ops if not op.is_private][::7]
    without = [op.name for op in public if program(op) is None]
    assert len(public) > 60
    assert without == []


def test_second_derivatives_are_formulas(table: Table) -> None:
    ((of, tex),) = second_derivatives(table.by_name("exp"), table).formulas
    assert (of, tex.rpartition("= ")[2]) == ("self, self", "e^{x}")
    assert second_derivatives(table.by_name("neg"), table).is_zero
    mixed = dict(second_derivatives(table.by_name("mul.Tensor"), table).formulas)
    assert mixed["self, other"].endswith("= 1")
    assert mixed["self, self"].endswith("= 0")
    ((_, tex),) = second_derivatives(table.by_name("i0"), table).formulas
    assert "I_{0}" in tex  # Bessel's, of which sympy reads no call in the definition
    assert second_derivatives(table.by_name("polygamma"), table).given == "n = 1"
    assert second_derivatives(table.by_name("elu"), table).given == ""
    assert "mm" in second_derivatives(table.by_name("mm"), table).made_of


def test_errors_are_drawn_beside_those_of_others() -> None:
    rows = [
        Row("VJP of self", "float64", "", {"gradspec": 1e-17, "PyTorch": 1.0, "JAX": None}, 1e-12),
        Row("forward", "float64", "eps=2", {"gradspec": 0.0}, 1e-12),
    ]
    text = errors_picture("tanh", rows)
    # The axis goes from 122 to 312, 17 decades: an error of 1e-17 is at its left, 1 at its right.
    assert '<path class="mark gradspec" d="M122.0 ' in text
    assert '<path class="mark pytorch" d="M312.0 ' in text
    assert '<path class="mark jax" d="M312.0 ' in text
    assert "tanh in float64: gradspec 1e-17, PyTorch 1e+00, JAX no digit" in text
    assert "gradspec, forward, float64: eps=2: exact" in text
    assert text.index(">value<") < text.index(">VJP by self<")
    assert errors_picture("tanh", []) == ""


def test_errors_along_an_argument_are_the_worst_of_intervals() -> None:
    # 51 intervals: ten decades below 1 and four above in halves on each side, zero in the middle.
    assert f"{'.' * 9}y{'.' * 15}k{'.' * 24}0" == FAR
    assert along([2.0, 2.5], [1e-3, 1e-6]) == f"{'.' * 42}6{'.' * 8}"


def test_errors_are_drawn_along_the_argument() -> None:
    text = along_picture("relu", ERRORS.along["relu"])
    assert "Errors of relu, VJP by self, float32: " in text
    assert "gradspec no digit, between 1e+04 and inf" in text
    assert "JAX no digit, between -inf and -1e+04" in text
    # From 36 to 322 there are 50 intervals, from 22 to 110 17 digits: no digit is at the top right.
    assert "322.0 22.0" in text
    assert along_picture("relu", []) == ""


def test_compiled_calls_are_c(table: Table) -> None:
    from atlas.calls import program
    from gradspec.dispatch.registry import import_all

    import_all()
    text = c_of(program(table.by_name("tanh")))
    assert text.startswith("/* Forward: part0(). */\nconst char *part0(")
    assert "= gs_tanhf(x1_at1);  // np.tanh, tanh\n" in text
    assert "\n/* Backward: part0(). */\n" in text
    assert "__asm__" not in text
    assert "a call of kernels.svd" in c_of(program(table.by_name("linalg_svd")))
    refused = c_of(program(table.by_name("masked_select")))
    assert refused.startswith("/* Not compiled: ")
    assert "<string>" not in refused
    assert c_of(None).startswith("/* Formulas alone")


def test_formulas_are_mathml() -> None:
    text = mathml(r"\frac{1}{x}", "a < b")
    assert "<mfrac>" in text
    assert 'aria-label="a &lt; b"' in text
    assert "\\" not in mathml(r"f(x, \text{chebyshev\_w})")
    word = mathml(r"\operatorname{\_as\_in}\left(\mathit{my\_dim}\right)")
    assert "<mtext>_as_in</mtext>" in word
    assert '<mtext mathvariant="italic">my_dim</mtext>' in word


def test_a_bar_is_over_all_of_its_formula() -> None:
    text = mathml(r"\overline{\frac{x}{2}} + 1")
    assert '<mrow class="bar"><mrow><mfrac>' in text
    assert "\u2015" not in text
    assert 'xmlns="http://www.w3.org/1998/Math/MathML"' in text


def test_formulas_of_several_rows_are_tables() -> None:
    text = mathml(r"\begin{aligned} a &= 2 \\ & a + b \end{aligned}")
    assert text.count("<mtr>") == 2
    assert text.count("<mtd") == 4
    assert "&<" not in text


def test_a_page_says_what_private_ops_compute(facts: dict[str, OpFacts]) -> None:
    ((name, tex),) = facts["relu"].vjp_parts
    assert name == "_threshold_backward"
    assert tex.startswith(
        r"\operatorname{\_threshold\_backward}\left(\mathit{self}, x, \mathit{threshold}\right) ="
    )
    assert tex.endswith(r"\mathit{self} & \text{otherwise} \end{cases}")
    assert 'href="_threshold_backward.html"' in page(facts, "relu")


def test_an_op_that_is_only_tested_is_not_called_proved(facts: dict[str, OpFacts]) -> None:
    text = page(facts, "linalg_eig")
    assert "values and first and second derivatives" in text
    assert "roots, which no symbols stand for" in text
    assert "identities on symbols" not in text
    assert "Proved equal" not in text
    program = facts["linalg_eig"].program
    assert program is not None
    assert "y[0].abs().sum().backward()" in program.code


def test_an_op_that_is_a_kernel_says_what_it_is(facts: dict[str, OpFacts]) -> None:
    assert "Complex eigenvalues, in the order of LAPACK" in page(facts, "linalg_eig")
    assert facts["relu"].kernel_says == ""


def test_an_op_of_parts_says_whose_rules_it_has(facts: dict[str, OpFacts]) -> None:
    text = page(facts, "layer_norm")
    assert "## VJP and JVP" in text
    assert 'by the rules of\n<a href="' in text


def test_pages_are_one_heading_and_no_broken_blocks(facts: dict[str, OpFacts]) -> None:
    for name in OPS:
        text = page(facts, name)
        assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1
        assert "\n\n\n" not in text
        assert ("exclude: true" in text) == name.startswith("_")


def test_the_index_has_public_ops_alone(facts: dict[str, OpFacts]) -> None:
    names = {each.op.signature.name: [each] for each in facts.values()}
    text = index_page(names)
    assert 'href="relu.html"' in text
    assert "_threshold_backward" not in text
    assert "_threshold_backward" in private_page(names)
    assert "<option>activations</option>" in text


def test_ops_have_several_spellings(facts: dict[str, OpFacts]) -> None:
    words = spellings("softplus", [facts["softplus"]])
    assert {"torch.softplus", "Softplus", "SoftplusBackward0", "gs.softplus"} <= set(words)


def test_the_benchmarks_are_drawn_relative_to_ours() -> None:
    table = (
        "| forward | gradspec | PyTorch | JAX |\n|---|---:|---:|---:|\n"
        "| chain | 10.0 µs | 1.00 ms | 1.0 µs |\n| import | – | – | 1 s |\n"
    )
    text = plot(table)
    assert "PyTorch: 100 times that of gradspec" in text
    assert "JAX: 0.1 times that of gradspec" in text
    assert "import" not in text


def test_the_benchmarks_of_the_readme_can_be_drawn() -> None:
    text = benchmarks_page()
    heads = re.search(r"\n\| forward and backward \|(.*)\|\n", text)
    assert heads is not None
    for head in heads[1].split(" | "):
        assert f">{head.strip()}</text>" in text
    assert 'fill="none"' in text  # one thread


def test_every_kernel_that_defines_an_op_has_a_formula(table: Table) -> None:
    defined = {
        op.name
        for op in table.ops
        if op.definition is not None and op.definition.text.strip().startswith("kernels.")
    }
    assert {*written_definitions()} == defined
    for name, tex in written_definitions().items():
        assert "\\" not in re.sub("<[^>]*>", "", mathml(tex)), name


def test_long_definitions_break_where_a_part_ends() -> None:
    cases = r"\begin{cases} a & b \quad c \end{cases}"
    assert [*apart(rf"y = {cases}, \quad s \text{{{{x}} \quad}} \quad \{{ t")] == [
        rf"y = {cases},",
        r"s \text{{x} \quad}",
        r"\{ t",
    ]
    assert [*apart("")] == []


def test_the_picture_in_the_tutorial_is_that_of_its_program() -> None:
    import gradspec as gs

    shown = (ROOT / "docs" / "images" / "derivative.svg").read_text(encoding="utf-8")
    made = gs.viz.derivative(lambda x, w: gs.tanh(x @ w + x.exp()).mean(), gs.ones(2, 2), gs.eye(2))
    assert shown.strip() == made.svg.strip()


def test_links_of_the_start_page_lead_to_ops(table: Table) -> None:
    known = {op.signature.name for op in table.ops}
    for path in (ROOT / "docs").rglob("*.md"):
        for name in re.findall(r"atlas/(\w+)\.md", path.read_text(encoding="utf-8")):
            assert name in {*known, "index"}, path

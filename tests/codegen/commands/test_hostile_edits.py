"""Specs with random edits: each is read, or refused with its mistakes; never anything else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradspec_codegen import auto
from gradspec_codegen.diagnostics import SpecError, render
from gradspec_codegen.emit.package import PackageBuilder
from gradspec_codegen.prove.deadline import time_limit
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Table
from tests.codegen.conftest import ENDLESS
from tests.codegen.proving import own_table

SPEC = """\
- family: waves

- name: mine.Tensor(Tensor self, Tensor? weight=None, *, Scalar a=2, str mode='mean') -> Tensor
  doc: An op.
  forward: |
    share = sigmoid(self) * a
    if weight is None:
        return share
    return share * weight
  self: |
    share = sigmoid(self) * a
    return grad * share * (1 - share / a) if weight is None else grad * weight * share
  weight: grad * share
  result: "not_implemented: why"
  examples:
    - {self: [2, 3], a: 1.5, mode: sum}
    - {self: {float: [1.5, 2]}, weight: [2]}
  variants: function, method
  python_module: nn
  aliases: [yours]

- name: other(Tensor self, Tensor other) -> (Tensor low, Tensor high)
  doc: Two.
  forward: (np.minimum(self, other), np.maximum(self, other))
  self: grad_low * (self < other) + grad_high * (self >= other)
  other: grad_low * (self >= other) + grad_high * (self < other)
  low: self_t + other_t
  high: self_t * 2 + other_t * other_p
  promotes: self, other
  same_dtype: self, other
  kinks: {"self == other": 0.5}
  domain: {self: -1 < self < 1, other: positive}
  output_differentiability: [true, true]

- name: third(Tensor self, int dim=-1, bool keepdim=False) -> Tensor
  doc: A sum.
  forward: kernels.sum(self, dim, keepdim, None)
  self: grad.shape
  result: auto_linear
  examples: [{self: [2, 3], dim: 1}]
  node: ThirdBackward7
  proof: {numeric: to try it}

- name: fourth(Tensor self) -> Tensor
  doc: Derived.
  forward: np.exp(self) + abs(self)
  self: auto
  result: auto_element_wise
  int_to_float: true
  complex: true
  inplace: true
  operators: __imatmul__
"""

LINES = SPEC.splitlines(keepends=True)

BITS = [
    *(
        "self",
        "other",
        "grad",
        "result",
        "grads",
        "np",
        "sp",
        "kernels",
        "pi",
        "inf",
        "nan",
        "None",
    ),
    *("True", "node", "needs", "Tensor", "class", "match", "print", "__init__", "_", "input"),
    *(": ", "- ", "[", "]", "{", "}", "(", ")", "'", '"', '"""', "\\", "\n", "\t", "  ", ",", "."),
    *(
        "|",
        ">",
        "&a",
        "*a",
        "!!python/object:os.system",
        "!!binary",
        "%",
        "#",
        "?",
        "---",
        "...",
        "@",
    ),
    *("9**9**9", "10**30", "1e999", "-0", "0x10", "1_000", "9" * 40, "[99999, 99999]", "[" * 60),
    *(
        "np.load('x')",
        "np.savetxt('x', self)",
        "np.sin(self, out=self)",
        "self.tofile",
        "open('x')",
    ),
    *(
        "\\N{nope}",
        "\0",
        "\x1b[31m",
        "\u2028",
        "\ud7ff",
        "\U0001f600",
        "ſelf",
        "é",
        "\x85",
        "\ufeff",
    ),
    *("include: ../x", "include: /etc/passwd", "include: ops.yaml", "include: fifo", "include: ."),
    *(
        "lambda: 0",
        "x for x in self",
        "a := 1",
        "**self",
        "*self",
        "f'{self}'",
        "if",
        "else",
        "return",
    ),
    *("result: auto", "self: auto", "auto_linear", "auto_element_wise", "non_differentiable"),
    *("(" * 1000, "x" * 5000, "not_implemented: ", "{numeric: }", "null", "true", "~", "-> Tensor"),
]


WORDS = [
    *("self", "other", "grad", "result", "weight", "a", "mode", "dim", "keepdim", "share", "low"),
    *("self_t", "other_p", "grad_low", "grads", "pi", "inf", "nan", "None", "True", "0", "-1", "2"),
    *("0.5", "1e308", "'x'", "[]", "[1, 2]", "(1,)", "self.shape", "self.dtype", "self.strides"),
    *("sin", "sum", "where", "len", "tuple", "float", "int", "is_complex", "conj", "abs", "np.sin"),
    *(
        "sin(self)",
        "sum(self)",
        "len(self)",
        "where(self > 0, self, other)",
        "split(self, 1)",
        "add",
    ),
    *("np.linalg.inv", "kernels.sum", "cat((self, other))", "mul(self, other=2)", "[self, self]"),
    *(
        "+",
        "-",
        "*",
        "/",
        "//",
        "%",
        "**",
        "@",
        "&",
        "|",
        "~",
        "<",
        "==",
        "is",
        "is not",
        "in",
        "not",
    ),
    *(
        "and",
        "or",
        ".",
        ",",
        ":",
        "self[0]",
        "self.shape[1:]",
        "grad if a else None",
        "*self.shape",
    ),
    *(
        "Tensor",
        "Tensor?",
        "Tensor[]",
        "Tensor(a)",
        "int[2]",
        "Scalar",
        "bool",
        "str",
        "float=1e999",
    ),
    *(
        "auto",
        "auto_linear",
        "auto_element_wise",
        "non_differentiable",
        "None",
        "positive",
        "nonzero",
    ),
    *("list", "type", "print", "node", "flags", "Any", "dispatch", "kernels", "constants", "input"),
]
_TOKEN = re.compile(r"\w+|[^\w\s]")


@st.composite
def reworded(draw: st.DrawFn) -> str:
    """The spec with a few words in the place of others."""
    text = SPEC
    for _ in range(draw(st.integers(1, 3))):
        tokens = list(_TOKEN.finditer(text))
        token = tokens[draw(st.integers(0, len(tokens) - 1))]
        text = text[: token.start()] + draw(st.sampled_from(WORDS)) + text[token.end() :]
    return text


@st.composite
def edited(draw: st.DrawFn) -> str:
    """The spec with a few lines doubled or dropped, and a few bits put in or in place."""
    lines = list(LINES)
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(lines) - 1))
        lines[place : place + 1] = draw(st.sampled_from([[], [lines[place]] * 2, [lines[0]]]))
    text = "".join(lines)
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, max(0, len(text) - 1)))
        length = draw(st.sampled_from([0, 0, 1, 4, 12]))
        bit = draw(st.one_of(st.sampled_from(BITS), st.text(max_size=3)))
        text = text[:start] + bit + text[start + length :]
    return text


def read(path: Path) -> str:
    """Return `generated`, or the mistakes of a file as a user sees them."""
    try:
        table = load_table(path, base=own_table())
        everything = Table((*own_table().ops, *table.ops))
        table = auto.fill_in(table, everything, {})
        files = PackageBuilder(table, "edited", own_table()).build().files
    except SpecError as error:
        return render(error.diagnostics)
    for text in files.values():
        ast.parse(text)
    return "generated"


def test_the_spec_itself_is_generated(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(SPEC, encoding="utf-8")
    assert read(tmp_path / "ops.yaml") == "generated"


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    derandomize=True,
)
@given(st.one_of(reworded(), edited()))
def test_an_edited_spec_is_read_or_refused(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    path = folder / "ops.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with time_limit(ENDLESS):
        assert re.match(r"generated$|error\[GS\d\d\d\]: ", read(path))
    assert [found.name for found in folder.iterdir()] == ["ops.yaml"]

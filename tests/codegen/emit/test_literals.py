"""Texts of a spec enter generated code as texts, whatever they contain."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradspec_codegen.emit.environment import docstring, literal
from gradspec_codegen.emit.package import PackageBuilder
from gradspec_codegen.emit.write import staged
from gradspec_codegen.spec.load import load_table
from tests.codegen.proving import own_table

TEXTS = st.text(
    st.one_of(st.sampled_from("\"'\\\n\r\t{}N%\0\x1b\x85\u2028\ud800"), st.characters())
)


@given(TEXTS)
def test_a_literal_is_its_text(text: str) -> None:
    assert ast.literal_eval(literal(text)) == text


@given(TEXTS)
def test_a_docstring_is_its_text(text: str) -> None:
    source = f"def f():\n    {docstring(text)}\n"
    (function,) = ast.parse(source.encode("utf-8").decode("utf-8")).body
    assert isinstance(function, ast.FunctionDef)
    (statement,) = function.body
    assert isinstance(statement, ast.Expr)
    assert ast.literal_eval(statement.value) == text


HARM = 'open("PWNED", "w").write("x")'

DOCS = [
    f'Sine."""; {HARM}; """.',
    f'"""\n    {HARM}\n"""',
    'It says "sine"',
    'Ends in quotes """',
    '""""""',
    "A backslash \\",
    "\\N{nope} \\x \\u12 \\",
    "a\x00b\x1b[31m\x85\u2028",
    "{{ 7 * 7 }} {% raw %} {# no #}",
    "# type: ignore",
]


def quoted(text: str) -> str:
    """Quote as YAML does in double quotes."""
    return '"' + "".join(f"\\U{ord(c):08x}" for c in text) + '"'


@pytest.mark.parametrize("doc", DOCS)
def test_words_stay_words(doc: str, tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(
        "- name: mine(Tensor self) -> Tensor\n"
        f"  doc: {quoted(doc)}\n"
        "  forward: np.sin(self)\n"
        "  self: grad * cos(self)\n"
        f"  result: {quoted('not_implemented: ' + doc)}\n"
        f"  promotes: self\n"
    )
    table = load_table(path, base=own_table())
    files = PackageBuilder(table, "worded", own_table()).build().files
    with staged(files) as staging:
        tree = ast.parse((staging / "ops.py").read_text("utf-8"))
    texts = {ast.get_docstring(n) for n in tree.body if isinstance(n, ast.FunctionDef)}
    assert " ".join(doc.split()) in {" ".join((text or "").split()) for text in texts}
    assert not any(isinstance(n, ast.Name) and n.id == "open" for n in ast.walk(tree))
    assert not (tmp_path / "PWNED").exists()

"""The text of diagnostics, character by character, and one bad spec for every code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gradspec_codegen.diagnostics
from gradspec_codegen.diagnostics import CODES, Diagnostic, Span, SpecError, did_you_mean, render
from gradspec_codegen.spec.load import load_table
from tests.codegen.proving import own_table

BAD_SPECS = sorted((Path(__file__).parent / "bad_specs").rglob("*.yaml"))


def expected(path: Path) -> str:
    """The `GS012 4:9` of the first comment line."""
    return path.read_bytes().split(b"\n")[0].decode().removeprefix("# ")


@pytest.mark.parametrize("path", BAD_SPECS, ids=lambda path: path.stem)
def test_a_bad_spec_gets_exactly_its_diagnostic(path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load_table(path)
    found = [f"{d.code} {d.span.line}:{d.span.column}" for d in caught.value.diagnostics]
    assert found == [expected(path)]
    assert all(d.span.path == str(path) for d in caught.value.diagnostics)


SPEC_CODES = {code for code in CODES if "GS0" < code < "GS08"}
"""Codes from GS080 on are about files and folders: `test_out` and `test_own_packages` test them."""


def test_every_code_of_a_spec_mistake_has_a_bad_spec() -> None:
    assert {expected(path).split()[0] for path in BAD_SPECS} == SPEC_CODES


def test_the_catalogue_has_every_code_that_is_raised() -> None:
    folder = Path(gradspec_codegen.diagnostics.__file__).parent
    sources = [*folder.glob("ir/*.py"), *folder.glob("spec/*.py")]
    raised = {
        code for path in sources for code in re.findall(r'"(GS\d+)"', path.read_text("utf-8"))
    }
    assert {code for code in raised if code < "GS08"} == SPEC_CODES


GOLDEN = {
    "gs012_key_for_no_argument": """\
error[GS012]: `slef` is neither a key of an entry nor an argument or output of `twice`
 --> SPEC:4:3
  |
4 |   slef: grad + grad
  |   ^^^^
  = help: did you mean `self`?""",
    "gs021_type": """\
error[GS021]: unknown type `Tenser`
 --> SPEC:2:15
  |
2 | - name: twice(Tenser self) -> Tensor
  |               ^^^^^^
  = help: did you mean `Tensor`?""",
    "gs031_lambda": """\
error[GS031]: a lambda is not part of the formula language
 --> SPEC:4:18
  |
4 |   self: "grad * (lambda: 2)"
  |                  ^^^^^^^^^""",
    "gs034_unknown_name": """\
error[GS034]: `slef` is no name that a VJP formula knows
 --> SPEC:4:16
  |
4 |   self: grad * slef / self
  |                ^^^^
  = help: did you mean `self`?""",
    "gs036_too_many_arguments": """\
error[GS036]: `twice` takes 1 by position, but is given 2
 --> SPEC:4:9
  |
4 |   self: twice(grad, 2)
  |         ^^^^^^^^^^^^^^
  = help: it is `twice(self)`""",
    "gs043_missing_gradient": """\
error[GS043]: no gradient formula for `other` of `twice`
 --> SPEC:2:35
  |
2 | - name: twice(Tensor self, Tensor other) -> Tensor
  |                                   ^^^^^
  = help: add `other: <formula>` or `other: non_differentiable`: a kernel has no derivative, so \
it can be derived only from formulas for all JVPs""",
    "gs047_square_as_linear": """\
error[GS047]: `auto_linear`, but `self * self` in `forward` is not linear
 --> SPEC:5:11
  |
5 |   result: auto_linear
  |           ^^^^^^^^^^^
  = help: write the JVP, or `auto_element_wise` if each element stands for itself""",
}


@pytest.mark.parametrize("name", GOLDEN)
def test_the_text_of_a_diagnostic(name: str) -> None:
    (path,) = (path for path in BAD_SPECS if path.stem == name)
    with pytest.raises(SpecError) as caught:
        load_table(path)
    assert render(caught.value.diagnostics).replace(str(path), "SPEC") == GOLDEN[name]


def test_diagnostics_are_separated_by_a_blank_line_and_sorted_by_place() -> None:
    second = Diagnostic("GS001", Span("no/file.yaml", 12, 3), "second", "a help")
    first = Diagnostic("GS002", Span("no/file.yaml", 2, 3), "first")
    assert render(SpecError([second, first]).diagnostics) == (
        "error[GS002]: first\n --> no/file.yaml:2:3\n\n"
        "error[GS001]: second\n  --> no/file.yaml:12:3\n   = help: a help"
    )


def test_a_caret_stays_in_its_line_and_below_its_character(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("\tab\n", encoding="utf-8")
    text = render([Diagnostic("GS004", Span(str(path), 1, 2, width=99), "m")])
    assert text.splitlines()[-2:] == ["1 | \tab", "  | \t^^"]


def test_a_long_line_is_cut_around_the_caret(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("x" * 5000 + "HERE" + "y" * 5000, encoding="utf-8")
    shown, caret = render([Diagnostic("GS004", Span(str(path), 1, 5001, 4), "m")]).splitlines()[-2:]
    assert len(shown) < 200
    assert shown[caret.index("^") : caret.index("^") + 4] == "HERE"


def test_a_spec_cannot_send_control_codes_to_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"x \x1b[31m \xff\n")
    text = render([Diagnostic("GS003", Span(str(path), 1, 3), "the word \x1b[31m")])
    assert "\x1b" not in text
    assert "\N{REPLACEMENT CHARACTER}[31m" in text


def test_color_adds_escapes_and_changes_no_character() -> None:
    diagnostic = Diagnostic("GS001", Span("no/file.yaml", 1, 1), "message", "help")
    colored = render([diagnostic], color=True)
    assert colored.startswith("\x1b[1;31merror[GS001]\x1b[0m")
    for escape in ("\x1b[1;31m", "\x1b[1;34m", "\x1b[1m", "\x1b[0m"):
        colored = colored.replace(escape, "")
    assert colored == render([diagnostic])


def test_did_you_mean_stays_silent_when_nothing_is_close() -> None:
    assert did_you_mean("sofmax", ["softmax", "sin"]) == "did you mean `softmax`?"
    assert did_you_mean("zzz", ["softmax", "sin"]) == ""


HINTS = {
    "linalg_solve": ("solve(self, self)", "did you mean `linalg_solve`?"),
    "method": ("self.to('int64')", "write `_to_copy(x, dtype='int64')`"),
    "arange": ("self * arange(3)", "write `arange(n, dtype=x.dtype)`"),
    "eye": ("eye(3) @ self", "write `eye(n, dtype=x.dtype)`"),
}


@pytest.mark.parametrize(("formula", "hint"), HINTS.values(), ids=HINTS.keys())
def test_a_habit_from_pytorch_is_told_what_to_write(
    formula: str, hint: str, tmp_path: Path
) -> None:
    spec = tmp_path / "ops.yaml"
    spec.write_text(f"- name: cube_of(Tensor self) -> Tensor\n  forward: {formula}\n")
    with pytest.raises(SpecError) as caught:
        load_table(spec, base=own_table())
    assert hint in caught.value.diagnostics[0].help

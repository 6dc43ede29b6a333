"""Numbers and statements of the documents, recomputed from what they are about."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradspec as gs
import gradspec_codegen.specs
from examples import digits
from gradspec_codegen.mutate.mutants import mutants_of
from gradspec_codegen.prove.identities import agreement
from gradspec_codegen.prove.inputs import chambers
from gradspec_codegen.prove.numeric import evaluate
from gradspec_codegen.prove.zero import is_zero as zero
from gradspec_codegen.spec.load import load_table

from . import test_layers
from .source_tree import ROOT

README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
DIFFERENCES = " ".join((ROOT / "docs" / "differences.md").read_text(encoding="utf-8").split())
CONTRIBUTING = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())
EQUIVALENTS = (ROOT / "docs" / "equivalent_mutants.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def number(pattern: str, text: str) -> int:
    """The number in a sentence that a document must have."""
    found = re.search(pattern, text)
    assert found is not None, f"no such sentence: {pattern}"
    return int(found[1].replace(",", ""))


# ---- mutants


def test_the_mutants_add_up() -> None:
    flat = " ".join(EQUIVALENTS.split())
    made = number(r"made ([\d,]+) mutants of the formulas", flat)
    ops = number(r"of the formulas of (\d+) ops", flat)
    killed = number(r"([\d,]+) were killed and none survived", flat)
    equivalent = number(r"the ([\d,]+) below were proved", flat)
    assert made == killed + equivalent
    assert equivalent == _listed(EQUIVALENTS.partition("## Tried again")[0])
    assert number(r"Of ([\d,]+) mutants of the formulas of \d+ ops none did", README) == made
    assert number(r"mutants of the formulas of (\d+) ops none did", README) == ops
    assert round(made / equivalent) == 20
    assert "one in twenty is equivalent" in README
    assert "Three are proved by certified numbers only" in flat
    assert "but for three where the op has no derivative" in README


def _listed(text: str) -> int:
    """Count the mutants of a list: `old` → `new`, some of them in several places."""
    lines = re.findall(r"^- `[^`]+`, \w+ of `\w+`: (.*)$", text, re.MULTILINE)
    edits = re.findall(r"`[^`]*` → `[^`]*`(?: \((\d+) places\))?", "\n".join(lines))
    return sum(int(places or 1) for places in edits)


def test_whether_all_ops_were_mutated() -> None:
    table = load_table(Path(gradspec_codegen.specs.__file__).with_name("derivatives.yaml"))
    with_formulas = sum(1 for op in table.ops if mutants_of(op, table))
    tried = number(r"mutants of the formulas of (\d+) ops none did", README)
    assert ("Ops that have come since are not tried yet." in README) == (tried < with_formulas)


# ---- the proof


def test_how_a_proof_is_made() -> None:
    assert number(r"the exact result at the witness, to 10⁻(.)", README.replace("⁹", "9")) == 9
    assert agreement.TOLERANCE == 1e-9
    assert number(r"it is zero to (\d+) digits", README) == evaluate.DIGITS
    points = number(r"digits at (\d+) or more random points", README)
    assert points == zero.CERTIFYING_POINTS
    assert number(r"chambers that were visited: up to (\d+) runs", README) == chambers.MAX_RUNS


# ---- the project


def test_versions() -> None:
    (oracle,) = PROJECT["project"]["optional-dependencies"]["oracle"]
    pinned = oracle.removeprefix("torch==")
    named = set(re.findall(r"PyTorch (\d[\d.]*\d)", README + DIFFERENCES + CONTRIBUTING))
    assert named
    assert all(pinned == name or pinned.startswith(f"{name}.") for name in named)
    least = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert set(re.findall(r"Python ≥ ([\d.]+\d)", README + CONTRIBUTING)) == {least}


def test_lengths() -> None:
    assert number(r"about (\d+) lines at most", CONTRIBUTING) == test_layers.MAX_FILE
    about = number(r"functions of about (\d+)", CONTRIBUTING)
    assert about <= test_layers.MAX_FUNCTION <= 1.2 * about
    ruff = PROJECT["tool"]["ruff"]["line-length"]
    assert number(r"ruff \(line length (\d+)\)", CONTRIBUTING) == ruff


def test_the_demo() -> None:
    assert number(r"over (\d+) epochs of training", README) == digits.EPOCHS


# ---- the library


NOT_HERE: dict[str, Callable[[], Any]] = {
    "`lobpcg` is not there": lambda: gs.lobpcg,
}


@pytest.mark.parametrize("sentence", NOT_HERE)
def test_what_is_not_here(sentence: str) -> None:
    assert sentence in DIFFERENCES
    with pytest.raises(AttributeError):
        NOT_HERE[sentence]()


def test_optimizers() -> None:
    sentence = re.search(r"initialisation; `optim\.([^.;]*)\.", README, re.DOTALL)
    assert sentence is not None
    assert set(re.findall(r"\w+", sentence[1])) - {"and"} == set(gs.optim.__all__) - {"Optimizer"}


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`gs\.([\w.]+)`?", README + DIFFERENCES))))
def test_names_that_are_told_exist(name: str) -> None:
    found: Any = gs
    for part in name.strip(".").split("."):
        found = getattr(found, part)


def test_what_is_measured_is_marked() -> None:
    """Figures of speed and memory stand only where `python -m benchmarks --readme` writes them."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    before, _, rest = text.partition("<!-- measured: make bench -->")
    measured, _, after = rest.partition("<!-- end of what was measured -->")
    prose = re.sub(r"```.*?```", "", before + after, flags=re.DOTALL)
    assert measured.count("\n|") > 10
    assert re.findall(r"\d[\d.]* (?:µs|ms|s|MB|GB)\b", prose) == []

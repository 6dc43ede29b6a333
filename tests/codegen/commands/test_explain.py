"""`gradspec explain`: what it shows, and how ops are found."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gradspec_codegen.cli import main
from gradspec_codegen.pipeline import plan

SPEC = Path(__file__).parents[3] / "specs" / "derivatives.yaml"


@pytest.fixture(scope="module")
def run() -> Iterator[Callable[..., Result]]:
    """Run `gradspec` with these words on the shipped table, which is rendered once."""

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, [*words, "--spec", str(SPEC)])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gradspec_codegen.commands.explain.plan", cache(plan))
        yield invoke


def test_shows_formulas_saves_proof_and_code(run: Callable[..., Result]) -> None:
    result = run("explain", "mul")
    assert result.exit_code == 0
    for text in (
        "mul.Tensor(Tensor self, Tensor other) -> Tensor",
        "self: grad * conj(other)",
        r"g \, \overline{\mathit{other}}",
        "other, for the gradient of self",
        "proved: ",
        "class MulBackward0(Node):",
        "def mul_jvp(",
    ):
        assert text in result.output
    assert "\x1b[" not in result.output


def test_lines_are_not_broken(run: Callable[..., Result]) -> None:
    """A formula longer than a terminal is wide can still be copied."""
    lines = run("explain", "gelu", "--no-code").output.splitlines()
    assert any(len(line) > 200 for line in lines)
    assert "def gelu" not in "\n".join(lines)


@pytest.mark.parametrize("name", ["mul", "mul.Tensor", "multiply", "MulBackward0", "torch.mul"])
def test_an_op_has_many_names(name: str, run: Callable[..., Result]) -> None:
    found = json.loads(run("explain", name, "--json").output)
    assert [each["name"] for each in found] == ["mul.Tensor"]


def test_a_base_name_means_all_overloads(run: Callable[..., Result]) -> None:
    found = json.loads(run("explain", "clamp_min", "--json").output)
    assert [each["name"] for each in found] == ["clamp_min", "clamp_min.Tensor"]
    assert [each["node"] for each in found] == ["ClampMinBackward0", "ClampMinBackward1"]


def test_kinks_and_domain_are_told(run: Callable[..., Result]) -> None:
    (relu,) = json.loads(run("explain", "relu", "--json").output)
    assert relu["kinks"] == ["where self == 0: 0 * grad"]
    (log,) = json.loads(run("explain", "log", "--json").output)
    assert log["domain"] == ["self: positive"]


def test_unknown_op_gets_a_suggestion(run: Callable[..., Result]) -> None:
    result = run("explain", "MullBackward0")
    assert result.exit_code == 1
    assert "Did you mean `MulBackward0`?" in result.output


def test_signatures_are_spelled_as_in_the_table() -> None:
    """Reading a signature and spelling it again gives the same text."""
    from gradspec_codegen.authoring.explanation import spelled_signature
    from gradspec_codegen.spec.signature import parse_signature

    for text in (
        "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "sum.dim(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor",
        "max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)",
        "view(Tensor(a) self, int[] size) -> Tensor(a)",
        "index(Tensor self, Tensor?[] indices) -> Tensor",
        "loss(Tensor self, str reduction='mean', float[] w=[0.5, 1.0]) -> Tensor",
    ):
        assert spelled_signature(parse_signature(text)) == text


def test_shows_the_definition_and_its_kernel(run: Callable[..., Result]) -> None:
    result = run("explain", "celu", "--no-code")
    assert result.exit_code == 0
    definition, _, rest = result.output.partition("\nKernel\n")
    assert "where(self > 0, self, alpha * expm1(self / alpha))" in definition
    assert r"\begin{cases}" in definition
    assert rest.startswith("  kernels.celu(self, alpha)\n")


def test_an_op_that_is_computed_as_defined_has_no_kernel(run: Callable[..., Result]) -> None:
    assert "Kernel" not in run("explain", "sin", "--no-code").output


def test_shows_which_calls_are_meant(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(
        "- name: of_vectors(Tensor self) -> Tensor\n  composite: sin(self) * 2\n"
        "  requires: [self.ndim == 1, 'self.shape[-1] > 1': not one alone]\n"
        "  examples: [{self: [2]}]\n",
        encoding="utf-8",
    )
    words = ["explain", "of_vectors", "--spec", str(path), "--no-code"]
    shown = CliRunner().invoke(main, words).output
    assert "Requires\n  self.ndim == 1\n  self.shape[-1] > 1: not one alone\n" in shown

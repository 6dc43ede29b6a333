"""`gradspec new`: skeletons that become entries once they are filled in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gradspec_codegen.cli import main
from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Auto, AutoElementwise
from tests.codegen.proving import own_table

SPEC = Path(__file__).parents[3] / "specs" / "derivatives.yaml"


@pytest.fixture
def run() -> Callable[..., Result]:
    """Run `gradspec new` with these words on the shipped table."""

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, ["new", *words, "--spec", str(SPEC)])

    return invoke


def test_an_elementwise_op_needs_a_forward_only(run: Callable[..., Result], tmp_path: Path) -> None:
    text = run("swish").output.replace("forward: TODO", "forward: self * sigmoid(self)")
    path = tmp_path / "ops.yaml"
    path.write_text(text, encoding="utf-8")
    (op,) = load_table(path, base=own_table()).ops
    assert op.name == "swish"
    assert isinstance(op.rule("self"), Auto)
    assert isinstance(dict(op.jvps)["result"], AutoElementwise)


@pytest.mark.parametrize(
    "signature",
    [
        "f(Tensor self) -> Tensor",
        "f.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        "f(Tensor[] tensors, *, float[] weights) -> Tensor",
        "f(Tensor self, int n) -> Tensor[]",
    ],
)
def test_what_is_missing_is_named(
    signature: str, run: Callable[..., Result], tmp_path: Path
) -> None:
    """The skeleton is good YAML with the right keys; only what says TODO is wrong with it."""
    path = tmp_path / "ops.yaml"
    path.write_text(run(signature).output, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_table(path, base=own_table())
    lines = path.read_text(encoding="utf-8").splitlines()
    assert all("TODO" in lines[found.span.line - 1] for found in caught.value.diagnostics)


def test_the_requirement_that_is_offered_is_one(run: Callable[..., Result], tmp_path: Path) -> None:
    text = run("doubled(Tensor self, int n) -> Tensor").output
    assert text.count("# requires: ") == 1
    for old, new in (
        ("# requires", "requires"),
        ("forward: TODO", "forward: self * 2"),
        ("self: TODO", "self: grad * 2"),
        ("result: TODO", "result: auto_linear"),
    ):
        text = text.replace(old, new)
    path = tmp_path / "ops.yaml"
    path.write_text(text, encoding="utf-8")
    (op,) = load_table(path, base=own_table()).ops
    assert [each.formula.text for each in op.requires] == ["self.ndim == 2"]


def test_composite(run: Callable[..., Result], tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    text = run("twice(Tensor self) -> Tensor", "--composite").output
    path.write_text(text.replace("composite: TODO", "composite: self + self"), encoding="utf-8")
    (op,) = load_table(path, base=own_table()).ops
    assert op.composite is not None


def test_appends_and_never_overwrites(run: Callable[..., Result], tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("# My ops.\n- name: first(Tensor self) -> Tensor", encoding="utf-8")
    assert run("second", "--to", str(path)).exit_code == 0
    text = path.read_text(encoding="utf-8")
    start = "# My ops.\n- name: first(Tensor self) -> Tensor\n\n- name: second(Tensor self)"
    assert text.startswith(start)
    for name in ("first", "second"):
        assert run(name, "--to", str(path)).exit_code == 1
    assert path.read_text(encoding="utf-8") == text


def test_refuses_what_exists(run: Callable[..., Result]) -> None:
    result = run("sin")
    assert result.exit_code == 1
    assert "There is an op `sin`" in result.output
    assert run("sin.mine(Tensor self, Scalar k) -> Tensor").exit_code == 0


def test_mistakes_in_the_signature_are_shown(run: Callable[..., Result]) -> None:
    result = run("f(Tensr self) -> Tensor")
    assert result.exit_code == 1
    assert "1 | f(Tensr self) -> Tensor\n  |   ^^^^^" in result.output
    assert "did you mean `Tensor`?" in result.output

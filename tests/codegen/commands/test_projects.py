"""Mistakes of own specs and projects, and folders without a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.own_specs import SPEC, command


def test_kernels_that_are_not_there_without_a_file(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(SPEC)
    result = command("codegen", tmp_path / "ops.yaml", "--out", tmp_path / "made")
    assert result.exit_code == 1
    assert "error[GS035]: there is no kernel `square`" in result.stderr
    assert f" --> {tmp_path / 'ops.yaml'}:16:12" in result.stderr


@pytest.mark.parametrize(
    ("name", "says"),
    [("item", "method `Tensor.item`"), ("numpy", "method `Tensor.numpy`")],
)
def test_a_method_of_tensors_is_not_replaced(tmp_path: Path, name: str, says: str) -> None:
    entry = SPEC.partition("- family: squares")[0].replace("tripled", name)
    (tmp_path / "ops.yaml").write_text(entry)
    result = command("codegen", tmp_path / "ops.yaml", "--out", tmp_path / "made", "-j", "1")
    assert result.exit_code == 1
    assert says in result.stderr
    assert not (tmp_path / "made").exists()


def test_an_in_place_variant_does_not_replace_one(tmp_path: Path) -> None:
    entry = SPEC.partition("- family: squares")[0].replace("tripled", "zero")
    (tmp_path / "ops.yaml").write_text(entry)
    result = command("codegen", tmp_path / "ops.yaml", "--out", tmp_path / "made", "-j", "1")
    assert "`Tensor.zero_`" in result.stderr


def test_an_op_of_gradspec_itself_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(SPEC.replace("tripled(", "mul.Mine("))
    result = command("codegen", tmp_path / "ops.yaml", "--out", tmp_path / "made")
    assert "error[GS050]: `mul` is an op of gradspec itself" in result.stderr


@pytest.mark.parametrize("words", [["codegen"], ["codegen", "--check"], ["prove"], ["schema"]])
def test_without_a_spec_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """Least of all where the generator is installed."""
    monkeypatch.chdir(tmp_path)
    result = command(*words)
    assert result.exit_code == 2
    assert "There is no spec here." in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["ops.yaml", "derivatives.yaml", "specs/derivatives.yaml"])
def test_an_own_spec_without_a_place_is_not_the_whole_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = tmp_path / name
    spec.parent.mkdir(exist_ok=True)
    spec.write_text(SPEC.partition("- family: squares")[0])
    result = command("codegen", name)
    assert result.exit_code == 1
    assert "error[GS080]: this spec is no project's: say where its package goes" in result.stderr
    assert "`--out NAME`" in result.stderr
    assert command("codegen").exit_code == 2
    assert command("explain", "tripled", "--spec", name).exit_code == 0
    assert [path.name for path in spec.parent.iterdir()] == [spec.name]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (
            "spek = 'ops.yaml'",
            "2:8\n",
        ),
        ("spec = 3", "2:8\n"),
        ("spec = 'gone.yaml'", "2:8\n"),
        ("spec = 'ops.yaml'\nkernels = 'gone.py'", "3:11\n"),
        ("spec = 'ops.yaml'\nout = 'my-ops'", "3:7\n"),
        ("spec = 'ops.yaml'\nout = '..'", "3:7\n"),
        ("spec = 'ops.yaml'\nout = 'o'\npackage = 'a.b'", "4:11\n"),
        ("spec = 'ops.yaml'\nspec = 'ops.yaml'", "3:1"),
        ("spec = ", "2:8\n"),
    ],
)
def test_mistakes_of_a_project_are_located(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, answer: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.yaml").write_text(SPEC)
    (tmp_path / "pyproject.toml").write_text(f"[tool.gradspec]\n{text}\n")
    result = command("codegen")
    assert (result.exit_code, type(result.exception)) == (1, SystemExit)
    assert "error[GS08" in result.stderr
    assert f"pyproject.toml:{answer}" in result.stderr


def test_the_schema_lies_beside_the_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "ops.yaml").write_text(SPEC)
    (tmp_path / "pyproject.toml").write_text('[tool.gradspec]\nspec = "specs/ops.yaml"\n')
    assert command("schema", "--check").exit_code == 1
    assert command("schema").output == "Wrote specs/schema.json\n"
    assert command("schema", "--check").exit_code == 0

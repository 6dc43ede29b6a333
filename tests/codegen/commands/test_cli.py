"""`gradspec codegen` and `gradspec prove`: reports for people and for programs, exit statuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gradspec_codegen.cli import main

GOOD = """
- name: tripled(Tensor self) -> Tensor
  doc: Three times each element.
  forward: self * 3
  self: grad * 3
  result: auto_linear
  examples:
    - {self: [2]}
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """A spec of one op that holds."""
    path = tmp_path / "ops.yaml"
    path.write_text(GOOD, encoding="utf-8")
    return path


def run(command: str, spec: Path, *words: str) -> Result:
    """Run a command on a spec that makes a package of its own."""
    out = str(spec.parent / "tripled_ops")
    return CliRunner().invoke(main, [command, str(spec), "--out", out, "-j", "1", *words])


def test_codegen_writes_proves_and_then_has_nothing_to_do(spec: Path) -> None:
    assert run("codegen", spec, "--check").exit_code == 1
    first = json.loads(run("codegen", spec, "--json").stdout)
    assert first["ok"]
    assert first["wrote"]
    (op,) = first["ops"]
    assert (op["name"], op["status"]) == ("tripled", "proved")
    assert [verdict["name"] for verdict in first["proved_now"]] == ["tripled"]
    assert "class TripledBackward0" in (spec.parent / "tripled_ops" / "ops.py").read_text()
    again = json.loads(run("codegen", spec, "--json").stdout)
    assert (again["wrote"], again["proved_now"]) == (False, [])
    assert run("codegen", spec, "--check").exit_code == 0


def test_prove_all_proves_again(spec: Path) -> None:
    assert run("prove", spec).exit_code == 0
    result = run("prove", spec, "--all")
    assert result.exit_code == 0
    assert "1 op: 1 proved; 1 proved now" in result.stdout


STEP = """
- name: soft_step(Tensor self) -> Tensor
  doc: A step from 0 to 1.
  forward: 1 / (1 + exp(-self))
  self: grad * {slope}
  result: auto_element_wise
  promotes: self
"""


@pytest.mark.parametrize(
    ("slope", "warned_of"),
    [
        ("exp(self) / (1 + exp(self)) ** 2", ["soft_step"]),
        ("sigmoid(self) * sigmoid(-self)", []),
    ],
)
def test_codegen_warns_of_derivatives_that_overflow(
    spec: Path, slope: str, warned_of: list[str]
) -> None:
    spec.write_text(STEP.format(slope=slope), encoding="utf-8")
    result = run("codegen", spec)
    assert "1 op: 1 proved" in result.stdout
    warnings = [line for line in result.stderr.splitlines() if "overflow at self = " in line]
    assert [line.split("`")[1] for line in warnings] == warned_of


def test_mistakes_as_json(spec: Path) -> None:
    spec.write_text(GOOD.replace("doc:", "dok:"), encoding="utf-8")
    result = run("codegen", spec, "--json")
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert not answer["ok"]
    (mistake,) = answer["mistakes"]
    assert mistake["code"] == "GS012"
    assert (mistake["span"]["line"], mistake["span"]["column"]) == (3, 3)
    assert mistake["help"] == "did you mean `doc`?"


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_command_says_its_exit_status(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert "Exit status: 0" in result.output


def test_the_help_lists_every_command_in_full() -> None:
    lines = CliRunner().invoke(main, ["--help"]).output.splitlines()
    for name, command in main.commands.items():
        assert f"  {name:<8} {command.short_help}" in lines


def test_a_command_that_proves_nothing_spares_the_time_to_load_sympy() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, gradspec_codegen.cli; print('sympy' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout == "False\n"


def test_two_ops_cannot_have_one_node(spec: Path, tmp_path: Path) -> None:
    named = GOOD + "  node: AnyBackward\n"
    spec.write_text(named + named.replace("tripled", "thrice"), encoding="utf-8")
    result = CliRunner().invoke(main, ["codegen", str(spec), "--out", str(tmp_path / "made")])
    assert result.exit_code == 1
    assert "error[GS050]: `AnyBackward` is the node of `tripled` already" in result.output
    assert not (tmp_path / "made").exists()

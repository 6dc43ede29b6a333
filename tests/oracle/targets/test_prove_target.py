"""`gradspec prove --target torch`: emitted code agrees with exact values, or is told apart."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gradspec_codegen.agreement import agree
from gradspec_codegen.cli import main
from gradspec_codegen.targets import frameworks
from tests.codegen.targets import agreement

pytestmark = pytest.mark.oracle

SPEC = Path(agreement.__file__).with_name("kinked.yaml")


def _told(*words: str) -> tuple[int, Any]:
    command = ["prove", *words, "--target", "torch", "--json", "-j", "1"]
    done = CliRunner().invoke(main, command)
    return done.exit_code, json.loads(done.stdout)


def test_own_ops() -> None:
    code, told = _told(str(SPEC))
    assert (code, told["ok"]) == (0, True)
    assert [a["name"] for a in told["agreements"]] == ["squared_ramp", "length_and_sum"]
    assert all(a["values"] > 5 and not a["problems"] for a in told["agreements"])


def test_ops_of_the_table() -> None:
    """An op by a formula, one that PyTorch has by name, and one that it lacks."""
    code, told = _told("softplus", "gather", "special_erfcx")
    assert code == 0
    assert {a["name"] for a in told["agreements"]} == {"softplus", "gather", "special_erfcx"}


def test_a_wrong_spelling_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function of another meaning shows in values and in derivatives, with the call."""
    real = frameworks.framework("torch")
    wrong = dict(real.ops) | {"sqrt": frameworks.Spelling("torch.abs({self})")}

    monkeypatch.setattr(agree, "framework", lambda _: dataclasses.replace(real, ops=wrong))
    code, told = _told(str(SPEC), "length_and_sum")
    assert (code, told["ok"]) == (1, False)
    (problem, *_) = told["agreements"][0]["problems"]
    assert problem.startswith("length_and_sum(x=[")
    assert "output 0 is [" in problem


OWN = """\
import torch

def short_rows(x):
    return x[..., :512].sum(-1)

def one_precision(x):
    return 2 * x if x.dtype == torch.float64 else 2.001 * x

def row_by_row(x):
    return torch.as_strided(x, x.shape, torch.empty(x.shape).stride()) * 2

def near_zero(x):
    return torch.where(x.abs() < 60, 2 * x, x)

def ignores_flag(x, twice):
    return 2 * x

def right(x, twice):
    return 2 * x if twice else x
"""

DOUBLED = """
- name: {name}(Tensor self{more}) -> Tensor
  doc: Twice the argument, or not.
  forward: {forward}
  self: {forward_of_grad}
  result: auto_linear
  {requires}
  torch: {{kernel: own_functions.{name}}}
  examples: [{{self: [2, 3]}}]
"""


def _entry(name: str) -> str:
    forward, more, requires = "2 * self", "", "inplace: false"
    if name == "short_rows":
        forward, requires = "sum(self, -1)", "requires: [self.ndim > 0]"
    if name in ("ignores_flag", "right"):
        forward, more = "2 * self if twice else self * 1", ", bool twice=True"
    of_grad = "expand(unsqueeze(grad, -1), self.shape)" if name == "short_rows" else forward
    of_grad = of_grad.replace("self *", "grad *").replace("2 * self", "2 * grad")
    return DOUBLED.format(
        name=name, more=more, forward=forward, forward_of_grad=of_grad, requires=requires
    )


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("short_rows", "short_rows(self of shape [2, 1025]) in float64: output 0 at [0]"),
        ("one_precision", "in float32: output 0 at [0, 0] is"),
        ("row_by_row", "in float64, of every second element: output 0"),
        ("near_zero", "output 0 at"),
        ("ignores_flag", "twice=False) in float64: output 0"),
    ],
)
def test_own_functions_are_called_as_no_example_does(name: str, where: str, tmp_path: Path) -> None:
    """A function that is right at the example alone is told, with its place in the spec."""
    spec = tmp_path / "doubled.yaml"
    spec.write_text(_entry(name) + _entry("right"))
    (tmp_path / "own_functions.py").write_text(OWN)
    code, told = _told(str(spec), "--run", "own_functions")
    assert code == 1
    wrong, right = told["agreements"]
    assert (right["name"], right["problems"]) == ("right", [])
    assert right["values"] > 100
    assert (
        f"doubled.yaml:8:19: `own_functions.{name}` does not compute {name}("
        in wrong["problems"][0]
    )
    assert where in wrong["problems"][0]

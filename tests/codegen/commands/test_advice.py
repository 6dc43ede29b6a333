"""Refuted formulas get a guess at the mistake: the small change that makes the op prove."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gradspec_codegen.cli import main
from gradspec_codegen.mutate import advice

WRONG = """
- name: flipped_sign(Tensor self) -> Tensor
  doc: The derivative of cos is -sin.
  forward: np.cos(self)
  self: grad * sin(self)
  result: auto_element_wise
  promotes: self

- name: missing_sum(Tensor self, int dim) -> Tensor
  doc: The softmax, its gradient without the sum.
  requires: dim >= 0 and dim < self.ndim
  forward: kernels.softmax(self, dim)
  self: result * (grad - grad * result)
  result: result * (self_t - sum(self_t * result, dim, True))
  examples:
    - {self: [2, 3], dim: 1}
    - {self: [3], dim: 0}

- name: wrong_tangent(Tensor self, Tensor other) -> Tensor
  doc: The JVP takes one tangent for the other.
  forward: self * other
  self: grad * other
  other: grad * self
  result: self_t * other_p + self_t * self_p
  promotes: self, other
"""

TWO_MISTAKES = """
- name: beyond_repair(Tensor self) -> Tensor
  doc: No single change makes this right.
  forward: np.sin(self)
  self: grad * exp(self) + 1
  result: auto_element_wise
  promotes: self
"""


NUMBERS = """
- name: without_its_factor(Tensor self, Scalar beta=1) -> Tensor
  doc: With beta as it is by default no factor is missing.
  forward: self * tanh(beta * self)
  self: grad * (tanh(beta * self) + self * (1 - tanh(beta * self) ** 2))

- name: without_its_divisor(Tensor self, Scalar cap=30) -> Tensor
  doc: With no cap there is no number.
  forward: cap * tanh(self / cap)
  self: grad * (1 - result ** 2)
"""


def generate(text: str, folder: Path, *words: str) -> Result:
    """`gradspec codegen` of a spec of its own."""
    path = folder / "ops.yaml"
    path.write_text(text, encoding="utf-8")
    out = str(folder / "wrong_ops")
    return CliRunner().invoke(main, ["codegen", str(path), "--out", out, "-j", "1", *words])


@pytest.fixture(scope="module")
def helps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The help of each wrong op."""
    folder = tmp_path_factory.mktemp("wrong")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(advice, "REPAIR_SECONDS", 60.0)  # however slow the machine is
        result = generate(WRONG, folder, "--json")
    assert result.exit_code == 1
    assert not (folder / "wrong_ops").exists()
    mistakes = json.loads(result.stdout)["mistakes"]
    assert [found["code"] for found in mistakes] == ["GS070"] * 3
    names = ("flipped_sign", "missing_sum", "wrong_tangent")
    return {
        name: next(found["help"] for found in mistakes if f"`{name}(" in found["message"])
        for name in names
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("flipped_sign", "did you mean `-grad * sin(self)`? (the sign)"),
        (
            "missing_sum",
            "did you mean `result * (grad - sum(grad * result, dim, True))`? (a sum is missing)",
        ),
        (
            "wrong_tangent",
            "did you mean `self_t * other_p + other_t * self_p`? (the name)",
        ),
    ],
)
def test_the_repair_is_named(name: str, expected: str, helps: dict[str, str]) -> None:
    assert helps[name].startswith(expected)


def test_without_a_repair_sympy_speaks_alone(tmp_path: Path) -> None:
    result = generate(TWO_MISTAKES, tmp_path)
    assert result.exit_code == 1
    assert "did you mean" not in result.stderr
    assert "sympy's derivative by `self` is `grad * cos(self)`" in result.stderr
    assert "1 mistake; nothing was written." in result.stderr


def test_flags_and_numbers_are_tried_that_tell_versions_apart(tmp_path: Path) -> None:
    result = generate(NUMBERS, tmp_path)
    assert result.exit_code == 1
    shown = re.search(r"`without_its_factor\(self=-?\d\., beta=2\)`", result.stderr)
    assert shown, "the call that shows it is one of a single whole number"
    factor = "grad * (tanh(beta * self) + self * beta * (1 - tanh(beta * self) ** 2))"
    assert f"did you mean `{factor}`? (a factor `beta` is missing)" in result.stderr
    assert "did you mean `grad * (1 - (result / cap) ** 2)`?" in result.stderr

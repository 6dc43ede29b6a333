"""`gradspec prove --target jax`: emitted code agrees with exact values, or is told apart."""

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

pytestmark = pytest.mark.jax

SPEC = Path(agreement.__file__).with_name("kinked.yaml")


def _told(*words: str) -> tuple[int, Any]:
    command = ["prove", *words, "--target", "jax", "--json", "-j", "1"]
    done = CliRunner().invoke(main, command)
    return done.exit_code, json.loads(done.stdout)


def test_own_ops() -> None:
    code, told = _told(str(SPEC))
    assert (code, told["ok"]) == (0, True)
    assert [a["name"] for a in told["agreements"]] == ["squared_ramp", "length_and_sum"]
    assert all(a["values"] > 5 and not a["problems"] for a in told["agreements"])


def test_ops_of_the_table() -> None:
    """An op by a formula, and one that JAX has by name."""
    code, told = _told("softplus", "scatter_add")
    assert code == 0
    assert {a["name"] for a in told["agreements"]} == {"softplus", "scatter_add"}


def test_a_wrong_spelling_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function of another meaning shows in values and in derivatives, with the call."""
    real = frameworks.framework("jax")
    wrong = dict(real.ops) | {"sqrt": frameworks.Spelling("jnp.abs({self})")}

    monkeypatch.setattr(agree, "framework", lambda _: dataclasses.replace(real, ops=wrong))
    code, told = _told(str(SPEC), "length_and_sum")
    assert (code, told["ok"]) == (1, False)
    (problem, *_) = told["agreements"][0]["problems"]
    assert problem.startswith("length_and_sum(x=[")
    assert "output 0 is [" in problem

"""The audit of JAX 0.10, end to end on a handful of ops."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.jax

OPS = ("digamma", "abs", "cos", "expm1")


@functools.cache
def audited() -> dict[str, Any]:
    """Run `gradspec audit jax --json` on these ops; return what it prints."""
    names = [word for op in OPS for word in ("--op", op)]
    command = [sys.executable, "-m", "gradspec_codegen", "audit", "jax", *names]
    done = subprocess.run(
        [*command, "--json", "--jobs", "1", "--thin", "40"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def findings(function: str) -> dict[str, dict[str, Any]]:
    """The findings about a function by grade."""
    return {f["grade"]: f for f in audited()["findings"] if f["function"] == function}


def test_the_derivative_of_digamma_is_structurally_wrong() -> None:
    found = findings("jax.scipy.special.digamma")["structural"]
    assert "VJP" in found["modes"]
    assert "jax-ml/jax#37635" in found["issues"]


def test_the_slope_of_abs_at_zero_is_a_convention() -> None:
    found = findings("jnp.abs")
    assert set(found) == {"convention"}
    assert float(found["convention"]["found"]) == 1.0


def test_a_function_that_is_right_has_no_finding() -> None:
    assert "jnp.cos" in audited()["functions"]
    assert findings("jnp.cos") == {}


def test_a_lost_tail_is_numerical() -> None:
    assert set(findings("jnp.expm1")) == {"numerical"}

"""The audit of PyTorch 2.13, end to end on a handful of ops."""

from __future__ import annotations

import functools
import json
import math
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.oracle

OPS = (
    *("linalg_det", "sinc", "silu", "cos", "softmax.int", "cumprod", "clamp", "ldexp.Tensor"),
    *("_native_batch_norm", "prod", "logsumexp"),
)


@functools.cache
def audited() -> dict[str, Any]:
    """Run `gradspec audit torch --json` on these ops; return what it prints."""
    names = [word for op in OPS for word in ("--op", op)]
    command = [sys.executable, "-m", "gradspec_codegen", "audit", "torch", *names]
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


def test_functions_that_are_right_have_no_finding() -> None:
    for function in ("torch.cos", "torch.softmax", "torch.clamp"):
        assert function in audited()["functions"]
        assert findings(function) == {}


def test_nested_jvps_of_det_are_structurally_wrong() -> None:
    found = findings("torch.linalg.det")["structural"]
    assert set(found["modes"]) == {"VJP∘JVP", "JVP∘JVP"}
    assert float(found["by_differences"]) == pytest.approx(float(found["exact"]), rel=1e-3)
    assert float(found["found"]) != pytest.approx(float(found["exact"]), rel=1e-2)
    assert "pytorch/pytorch#196696" in found["issues"]


def test_nested_jvps_of_batch_norm_are_structurally_wrong() -> None:
    found = findings("torch.native_batch_norm")
    assert set(found) == {"structural"}  # its mean and deviation have no gradients, by convention
    assert set(found["structural"]["modes"]) == {"VJP∘JVP", "JVP∘JVP"}
    assert "pytorch/pytorch#196699" in found["structural"]["issues"]


def test_a_negative_exponent_of_ldexp_is_structurally_wrong() -> None:
    assert {"VJP", "JVP"} <= set(findings("torch.ldexp")["structural"]["modes"])


def test_isolated_points_are_boundaries() -> None:
    sinc = findings("torch.sinc")
    assert "structural" not in sinc
    assert float(sinc["boundary"]["exact"]) == pytest.approx(-(math.pi**2) / 3)
    assert "boundary" in findings("torch.cumprod")
    assert "structural" not in findings("torch.cumprod")


def test_a_lost_tail_is_numerical() -> None:
    assert set(findings("torch.nn.functional.silu")) == {"numerical"}


def test_products_that_overflow_behind_zeros_are_numerical() -> None:
    prod = findings("torch.prod")["numerical"]
    assert {"VJP (torch.func)", "JVP"} <= set(prod["modes"])
    assert "pytorch/pytorch#194699" in prod["issues"]


def test_what_gradspec_loses_too_is_no_finding() -> None:
    """The gradients of two huge equal elements sum to 2 in both libraries, and should sum to 1."""
    assert "torch.logsumexp" in audited()["functions"]
    assert findings("torch.logsumexp") == {}


def test_the_bound_of_clamp_is_a_shared_convention() -> None:
    assert "torch.clamp" in {f["function"] for f in audited()["shared_conventions"]}


def test_each_program_runs_by_itself_and_prints_what_is_claimed() -> None:
    for finding in audited()["findings"]:
        assert len(finding["program"].splitlines()) <= 6
        shown = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", finding["program"]],
            capture_output=True,
            text=True,
            check=True,
        )
        printed = float(shown.stdout)
        assert printed == pytest.approx(float(finding["found"]), rel=1e-6, nan_ok=True)
        if math.isfinite(printed):
            assert printed != pytest.approx(float(finding["exact"]), rel=1e-3, abs=0)


def test_gradspec_does_not_contradict_itself() -> None:
    assert audited()["own_disagreements"] == []

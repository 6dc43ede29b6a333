"""The program in examples/ that runs generated ops in JAX, by its one command."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.meta.source_tree import ROOT

pytestmark = pytest.mark.jax


def test_shard_map() -> None:
    """Four devices learn the same as on JAX's own functions, in single precision."""
    place = ROOT / "examples" / "jax_shard"
    done = subprocess.run(
        [sys.executable, "train.py"], cwd=place, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    numbers = {
        label: float(re.search(pattern, done.stdout, re.MULTILINE)[1])  # type: ignore[index]
        for label, pattern in {
            "devices": r"^loss on (\d+) devices",
            "first": r"devices: (\S+), a",
            "last": r"steps (\S+)$",
            "own last": r"own functions: \S+, (\S+)$",
            "one device": r"one device's: within (\S+)$",
            "autodiff": r"JAX's autodiff: within (\S+)$",
            "saved": r"^saved: .*, (\S+) of",
        }.items()
    }
    assert numbers["devices"] == 4
    assert numbers["last"] < numbers["first"] / 2
    assert numbers["own last"] == pytest.approx(numbers["last"], abs=2e-3)
    assert numbers["one device"] < 1e-5
    assert numbers["autodiff"] < 1e-5
    assert numbers["saved"] <= 1

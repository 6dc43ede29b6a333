"""The programs in examples/ that run generated ops in PyTorch, each by its one command."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.meta.source_tree import ROOT

pytestmark = pytest.mark.oracle


def _last_lines(program: str) -> list[str]:
    place = (ROOT / "examples" / program).parent
    done = subprocess.run(
        [sys.executable, program.rpartition("/")[2]],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _number(pattern: str, lines: list[str]) -> float:
    found = [re.search(pattern, line) for line in lines]
    (number,) = (match[1] for match in found if match)
    return float(number)


def test_forces() -> None:
    """Forces, Hessian-vector products and their traced program are those of PyTorch's autodiff."""
    lines = _last_lines("force_field/forces.py")
    assert any("traced by make_fx" in line and line.endswith("equal: True") for line in lines)
    assert _number(r"forces within (\S+),", lines) < 1e-12
    assert _number(r"products (\S+)$", lines) < 1e-12
    assert _number(r"^saved: .*, (\S+) of", lines) <= 1


def test_ddp_with_compile() -> None:
    """Two processes learn the same as on PyTorch's own functions, in single precision."""
    lines = _last_lines("torch_ddp/train.py")
    assert _number(r"averaged gradients .* within (\S+)$", lines) < 1e-5
    first, last = (_number(pattern, lines) for pattern in (r"es: (\S+), a", r"steps (\S+)$"))
    assert last < first / 5
    assert _number(r"own functions: .*, (\S+)$", lines) == pytest.approx(last, abs=2e-3)
    assert _number(r"^saved: .*, (\S+) of", lines) <= 1

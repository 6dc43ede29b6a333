"""Types that a checker sees in a program that uses the installed library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from .typecheck import plant

PROGRAM = """
from typing import assert_type

import gradspec as gs

x = gs.ones(2, 3, requires_grad=True)
for result in (
    assert_type(x.reshape(-1), gs.Tensor),
    assert_type(x.permute(1, 0), gs.Tensor),
    assert_type(x + 1, gs.Tensor),
    assert_type(x @ x.t(), gs.Tensor),
    assert_type(x.softmax(dim=1), gs.Tensor),
    assert_type(x[0], gs.Tensor),
    assert_type(x.add_(1), gs.Tensor),
    assert_type(gs.nn.functional.relu(x), gs.Tensor),
    assert_type(gs.linalg.det(x), gs.Tensor),
):
    print(result.shape)
assert_type(x.grad, gs.Tensor | None)
print(x.max(0).values, x.max().item())
"""


def test_a_program_sees_tensors(tmp_path: Path) -> None:
    plant(tmp_path / "site")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]
    cache = ["--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(
        [*mypy, *cache, "program.py"],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr

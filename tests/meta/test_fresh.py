"""generated/ is what the generator renders now, wherever and whenever it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.codegen.proving import own_table

from .source_tree import ROOT

RENDER = """
import sys
from pathlib import Path
from gradspec_codegen.emit.ownership import signed
from gradspec_codegen.emit.write import contents, replace, staged
from gradspec_codegen.pipeline import plan
from gradspec_codegen.target import Target

target = Target(*map(Path, sys.argv[1:]))
planned = plan(target)
rules = {"batching.py": planned.batching.module(planned.recorded)}
with staged(planned.built.files | rules) as staging:
    files = {name: signed(name, text, target.source) for name, text in contents(staging).items()}
    replace(target.out, files, target.source)
"""


def render(out: Path, hash_seed: str) -> dict[str, bytes]:
    """The files that a process with another order of hashes renders; nothing is proved."""
    command = [sys.executable, "-c", RENDER, str(ROOT / "specs" / "derivatives.yaml"), str(out)]
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return contents(out)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_the_committed_tree_is_fresh(tmp_path: Path, hash_seed: str) -> None:
    rendered = render(tmp_path / "generated", hash_seed)
    committed = contents(ROOT / "generated")
    assert rendered.keys() == committed.keys()
    stale = [name for name in rendered if rendered[name] != committed[name]]
    assert not stale, "run `make codegen`"


def test_every_op_has_a_proof_in_the_lock() -> None:
    lock = (ROOT / "specs" / "proofs.lock").read_text(encoding="utf-8")
    proved = {line.split()[0]: line.split()[1] for line in lock.splitlines() if _is_op(line)}
    entries = {op.name for op in own_table().ops}
    assert len(entries) >= 60
    assert proved.keys() == entries
    assert set(proved.values()) <= {"proved", "certified", "tested"}


def _is_op(line: str) -> bool:
    return "sha256:" in line and not line.startswith(" ")

"""A generator that is killed, at whatever moment, leaves the old tree or the new one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.codegen.commands import warm

SPEC = """\
- family: steps

- name: step_{letter}(Tensor self) -> Tensor
  doc: Version {letter} of an op, which needs no proof.
  composite: self * {factor}
  examples: [{{self: [2]}}]
"""
VERSIONS = {"a": SPEC.format(letter="a", factor=2), "b": SPEC.format(letter="b", factor=3)}

KILL = """\
import os, signal, sys

left, folder = {left}, {folder!r}
CHANGES = {{"open", "os.chmod", "os.mkdir", "os.remove", "os.rename", "os.rmdir"}}


def hook(event, args):
    global left
    if event not in CHANGES or not str(args[0]).startswith(folder):
        return
    if event == "open" and not args[2] & (os.O_WRONLY | os.O_RDWR):
        return
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)


sys.addaudithook(hook)
"""
"""Kill the process just before it changes a folder for the nth time."""

EVERY = 4
"""Fraction of a run's changes of which each is tried once."""


class Tree:
    """A spec with its generated package and its lock, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.spec = folder / "specs" / "ops.yaml"
        self.out = folder / "steps_package"
        self.private = folder / "tmp"
        self.spec.parent.mkdir()
        self.private.mkdir()

    def run(self, version: str, *, killed_before: int = 0) -> int:
        """Run the generator on one version of the spec, and return how it ended."""
        self.spec.write_text(VERSIONS[version], encoding="utf-8")
        words = ["codegen", str(self.spec), "--out", str(self.out), "--jobs", "1"]
        environment = os.environ | {"TMPDIR": str(self.private)}
        kill = KILL.format(left=killed_before, folder=str(self.folder))
        return warm.run(words, self.folder, environment, kill).status

    def generate(self, version: str) -> dict[str, bytes]:
        """An undisturbed run, and what it leaves."""
        assert self.run(version) == 0
        return self.contents()

    def contents(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.out.glob("*.*")}

    def strangers(self) -> list[str]:
        """List the folder without the spec and the package."""
        expected = {self.spec, self.out, self.spec.parent, self.private}
        around = [*self.folder.iterdir(), *self.spec.parent.iterdir()]
        return [str(path.relative_to(self.folder)) for path in around if path not in expected]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_killed_before_each_change_of_the_folder(tree: Tree) -> None:
    known = {version: tree.generate(version) for version in VERSIONS}
    assert known["a"] != known["b"]
    there, appeared, end = "b", [], 1
    for change in range(1, 100, EVERY):
        version = "b" if there == "a" else "a"
        end = tree.run(version, killed_before=change)
        assert end in (0, -signal.SIGKILL)
        now = tree.contents()
        assert now in (known[there], known[version])
        appeared.append(now == known[version])
        there = version if appeared[-1] else there
        if end == 0:
            break
    assert end == 0, "a run has to be left that makes fewer changes"
    assert appeared == sorted(appeared), "the new tree is there from some change on"
    assert not all(appeared[:2]), "some runs are killed before that"
    assert appeared[-2], "and some after it"
    assert tree.generate("b") == known["b"]
    assert tree.strangers() == []


def test_the_tree_imports_after_a_kill(tree: Tree) -> None:
    tree.generate("a")
    assert tree.run("b", killed_before=6) == -signal.SIGKILL
    use = (
        "import gradspec as gs, steps_package as s; import numpy as np;"
        "step = getattr(s, 'step_a', None) or s.step_b;"
        "x = gs.from_numpy(np.ones(2)).requires_grad_(); step(x).sum().backward();"
        "assert x.grad is not None and float(x.grad[0]) in (2.0, 3.0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", use], cwd=tree.folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

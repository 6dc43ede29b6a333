"""A generator that is killed, at whatever moment, leaves the old tree or the new one."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

SPEC = """\
- family: steps

- name: step_{letter}(Tensor self) -> Tensor
  doc: Version {letter} of an op.
  forward: self * {factor}
  self: grad * {factor}
  result: auto_linear
  examples: [{{self: [2]}}]
"""
VERSIONS = {"a": SPEC.format(letter="a", factor=2), "b": SPEC.format(letter="b", factor=3)}
KILLS = 8


class Tree:
    """A spec with its generated package and its lock, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.spec = folder / "specs" / "ops.yaml"
        self.out = folder / "steps_package"
        self.private = folder / "tmp"
        self.spec.parent.mkdir()
        self.private.mkdir()

    def start(self, version: str) -> subprocess.Popen[bytes]:
        """The generator on one version of the spec."""
        self.spec.write_text(VERSIONS[version], encoding="utf-8")
        command = [sys.executable, "-m", "gradspec_codegen", "codegen", str(self.spec)]
        return subprocess.Popen(
            [*command, "--out", str(self.out), "--jobs", "1"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            env=os.environ | {"TMPDIR": str(self.private)},
        )

    def generate(self, version: str) -> dict[str, bytes]:
        """An undisturbed run, and what it leaves."""
        assert self.start(version).wait() == 0
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


def moments(duration: float) -> Iterator[tuple[bool, float]]:
    """The moment of the kill: after the start, or after the new tree began to appear."""
    rng = random.Random(0)
    for number in range(KILLS):
        wait_for_staging = number % 2 == 1
        yield wait_for_staging, rng.uniform(0, 0.003 if wait_for_staging else duration)


def wait_for_staging(tree: Tree, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None and not list(tree.folder.glob(".staging-*")):
        pass  # it is there for a few milliseconds


def test_killed_at_random_moments(tree: Tree) -> None:
    known = {"a": tree.generate("a")}
    started = time.perf_counter()
    known["b"] = tree.generate("b")
    duration = time.perf_counter() - started
    assert known["a"] != known["b"]
    seen, version, killed = "b", "a", 0
    for for_staging, delay in moments(duration):
        process = tree.start(version)
        if for_staging:
            wait_for_staging(tree, process)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        now = tree.contents()
        assert now in (known[seen], known[version])
        seen = version if now == known[version] else seen
        version = "b" if seen == "a" else "a"
    assert killed > KILLS / 2, "most runs have to be interrupted for the test to mean something"
    assert tree.generate("a") == known["a"]
    assert tree.strangers() == []


def test_the_tree_imports_after_a_kill(tree: Tree) -> None:
    tree.generate("a")
    process = tree.start("b")
    wait_for_staging(tree, process)
    process.kill()
    process.wait()
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

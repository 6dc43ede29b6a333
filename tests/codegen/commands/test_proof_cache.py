"""Proofs made before a run failed are kept, and nothing else is left behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gradspec_codegen import proof_cache
from gradspec_codegen.pipeline import Outcome, ProofFailure, differences, generate
from gradspec_codegen.prove.report.verdict import OpVerdict
from gradspec_codegen.spec.model import OpSpec
from gradspec_codegen.target import Target

RIGHT = """
- name: doubled(Tensor self) -> Tensor
  doc: Twice a tensor.
  forward: 2 * self
  self: 2 * grad
  result: 2 * self_t

- name: bent(Tensor self) -> Tensor
  doc: A sine with half of a parabola.
  forward: sin(self) + self * self / 2
"""

SQUARED = """
- name: squared(Tensor self) -> Tensor
  doc: The square of a tensor.
  forward: self * self
  self: {factor} * grad * self
  result: 2 * self_t * self_p
"""


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[list[str], Outcome]]:
    """Generate a package from a text: the ops that a run had to prove, and its outcome."""
    monkeypatch.setenv("GRADSPEC_CACHE", str(tmp_path / "cache"))
    spec = tmp_path / "ops.yaml"
    target = Target(spec, tmp_path / "own_ops", "own_ops", command="gradspec codegen")

    def generated(
        text: str, stale: list[str], progress: Callable[[OpVerdict], None] = lambda verdict: None
    ) -> Outcome:
        def begin(ops: list[OpSpec]) -> None:
            stale[:] = [op.name for op in ops]

        spec.write_text(text, encoding="utf-8")
        return generate(target, jobs=1, begin=begin, progress=progress)

    return generated


def kept_files(folder: Path) -> list[Path]:
    return sorted((folder / "cache" / "proofs").glob("*"))


def test_only_what_failed_is_proved_again(run: Callable[..., Outcome], tmp_path: Path) -> None:
    stale: list[str] = []
    with pytest.raises(ProofFailure):
        run(RIGHT + SQUARED.format(factor=3), stale)
    assert stale == ["doubled", "bent", "squared"]
    assert not (tmp_path / "own_ops").exists()

    outcome = run(RIGHT + SQUARED.format(factor=2), stale)
    assert stale == ["squared"]
    assert list(outcome.entries) == ["doubled", "bent", "squared"]
    assert outcome.entries["bent"].derived
    assert kept_files(tmp_path) == []

    run(RIGHT + SQUARED.format(factor=2), stale)
    assert stale == []


def test_a_check_knows_only_what_is_written(run: Callable[..., Outcome], tmp_path: Path) -> None:
    with pytest.raises(ProofFailure):
        run(RIGHT + SQUARED.format(factor=3), [])
    (tmp_path / "ops.yaml").write_text(RIGHT, encoding="utf-8")
    target = Target(tmp_path / "ops.yaml", tmp_path / "own_ops", "own_ops")
    told = [line for line in differences(target) if "not proved" in line]
    assert told == ["doubled: not proved as it stands", "bent: not proved as it stands"]


def test_a_changed_op_is_proved_again(run: Callable[..., Outcome]) -> None:
    stale: list[str] = []
    with pytest.raises(ProofFailure):
        run(RIGHT + SQUARED.format(factor=3), stale)
    with pytest.raises(ProofFailure):
        run(RIGHT.replace("self: 2", "self: 4") + SQUARED.format(factor=2), stale)
    assert stale == ["doubled", "squared"]


def test_an_interruption_keeps_what_was_proved(run: Callable[..., Outcome], tmp_path: Path) -> None:
    def interrupt(verdict: OpVerdict) -> None:
        raise KeyboardInterrupt

    stale: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        run(RIGHT, stale, interrupt)
    assert len(kept_files(tmp_path)) == 1
    run(RIGHT, stale)
    assert len(stale) == 1


def test_what_is_old_is_removed(run: Callable[..., Outcome], tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "proofs"
    folder.mkdir(parents=True)
    old, foreign, new = f"{'0a' * 16}.lock", "mine.lock", f"{'0b' * 16}.lock"
    for name, mtime in ((old, 1e9), (foreign, 1e9), (new, None)):
        (folder / name).write_text("")
        if mtime is not None:
            os.utime(folder / name, (mtime, mtime))
    with pytest.raises(ProofFailure):
        run(RIGHT + SQUARED.format(factor=3), [])
    names = {path.name for path in kept_files(tmp_path)}
    assert old not in names
    assert {foreign, new} < names


def test_a_cache_that_cannot_be_written_changes_nothing(
    run: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GRADSPEC_CACHE", str(tmp_path / "file"))
    with pytest.raises(ProofFailure):
        run(RIGHT + SQUARED.format(factor=3), [])
    assert proof_cache.read(Target(tmp_path / "ops.yaml", tmp_path / "own_ops", "own_ops")) == {}

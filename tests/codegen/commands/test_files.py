"""Files that commands are told to write, or to read: what is not theirs is left as it is."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from gradspec_codegen import proof_cache, table_cache
from gradspec_codegen.audit.report import is_report
from gradspec_codegen.cli import main
from gradspec_codegen.target import Target

ROOT = Path(__file__).parents[3]

READS: dict[str, list[str]] = {
    "codegen": ["codegen", "FILE.yaml", "--out", "made"],
    "prove": ["prove", "FILE.yaml", "--out", "made"],
    "lint": ["lint", "FILE.yaml"],
    "kernels": ["codegen", "ops.yaml", "--out", "made", "--kernels", "FILE.py"],
    "proofs": ["codegen", "ops.yaml", "--out", "made", "--proofs", "FILE.lock"],
    "verify": ["verify", "FILE.jsonl"],
    "new": ["new", "op", "--to", "FILE.yaml"],
    "schema": ["schema", "FILE.json"],
    "certificate": ["prove", "ops.yaml", "half", "--certificate", "FILE.jsonl"],
    "audit": ["audit", "torch", "--op", "tanh", "--html", "FILE.html"],
}

SPEC = "- name: half(Tensor self) -> Tensor\n  forward: self / 2\n"


@pytest.mark.parametrize("words", READS.values(), ids=READS)
def test_a_pipe_is_not_waited_for(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ops.yaml").write_text(SPEC)
    (pipe,) = (word for word in words if word.startswith("FILE"))
    os.mkfifo(pipe)
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2, done.output
    assert f"'{pipe}' is no regular file" in done.output
    assert stat.S_ISFIFO(os.lstat(pipe).st_mode)
    assert not Path("made").exists()


@pytest.mark.parametrize("option", ["--html", "--markdown"])
@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("file", "is there, and is no report"),
        ("link", "is there, and is no report"),
        ("folder", "There is no folder"),
    ],
)
def test_an_audit_replaces_reports_alone(option: str, way: str, told: str, tmp_path: Path) -> None:
    report, mine = tmp_path / "report", tmp_path / "mine"
    mine.write_text("mine")
    if way == "file":
        report.write_text("mine")
    elif way == "link":
        report.symlink_to(mine)
    else:
        report = tmp_path / "absent" / "report"
    done = CliRunner().invoke(main, ["audit", "torch", "--op", "tanh", option, str(report)])
    assert done.exit_code == 2
    assert told in " ".join(done.output.split())
    assert mine.read_text() == "mine"
    assert way != "file" or report.read_text() == "mine"


def test_reports_are_known(tmp_path: Path) -> None:
    for name, text, is_one in (
        ("a.md", "## PyTorch 2.13\n\n325 functions, 1,200 derivatives compared. ", True),
        ("b.html", '<!doctype html>\n<html lang="en">\n<title>Audit of JAX', True),
        ("c.md", "## Notes\n\nof mine", False),
        ("d.html", "<!doctype html>\n<title>Mine</title>", False),
        ("e.md", "", False),
    ):
        (tmp_path / name).write_text(text)
        assert is_report(tmp_path / name) is is_one


def test_a_cache_forgets_what_it_kept_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADSPEC_CACHE", str(tmp_path))
    long_ago = time.time() - 2 * proof_cache.MONTH
    files = {
        tmp_path / "proofs" / "mine.lock": True,
        tmp_path / "proofs" / f"{'0a' * 16}.lock": False,
        tmp_path / "tables" / "data.pickle": True,
        tmp_path / "tables" / f"{'0a' * 32}-{'0b' * 16}.pickle": False,
    }
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text("")
        os.utime(file, (long_ago, long_ago))
    entry = next(iter(proof_cache.lock.read(ROOT / "specs" / "proofs.lock").values()))
    proof_cache.keep(Target(ROOT / "specs" / "derivatives.yaml", out=tmp_path / "out"), [entry])
    table_cache._keep(table_cache.read(ROOT / "specs" / "derivatives.yaml"), "0c" * 32)
    assert {file: file.exists() for file in files} == files

"""What the documents show is what happens: every block is run, every output compared."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from .documents import Block, blocks, sessions
from .source_tree import ROOT

DOCUMENTS = ["README.md", "docs/spec.md", "CONTRIBUTING.md"]
NOT_RUN = ("make ", "git ", "cd ", "pip ", "gradspec codegen\n")
"""Commands that would test the tests themselves, or change the tree."""


class Reader:
    """Does what a reader of a document would do, in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checked = 0

    def follow(self, block: Block) -> None:
        if block.role == "file":
            (self.folder / block.name).write_text(block.body, encoding="utf-8")
        elif block.role == "part of":
            assert block.body in (self.folder / block.name).read_text(encoding="utf-8")
            self.checked += 1
        elif block.language == "python":
            assert self.run(sys.executable, "-W", "error", "-c", block.body) == block.printed
            self.checked += 1
        elif block.language == "console":
            for command, printed in sessions(block.body):
                if not f"{command}\n".startswith(NOT_RUN):
                    assert self.command(command) == normalised(printed), command
                    self.checked += 1

    def command(self, text: str) -> str:
        program, *arguments = shlex.split(text)
        if program == "cat":
            return normalised((self.folder / arguments[0]).read_text(encoding="utf-8"))
        assert program == "gradspec", f"no reader knows how to run {program!r}"
        return normalised(self.run(sys.executable, "-m", "gradspec_codegen", *arguments))

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(self.folder), "COLUMNS": "100"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout


def normalised(text: str) -> str:
    """Without what differs from run to run: times, and blank lines around."""
    return re.sub(r"\d+\.\d+ s\b", "... s", text.strip())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_tells_the_truth(name: str, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for block in blocks(ROOT / name):
        reader.follow(block)
    if name == "README.md":
        assert reader.checked >= 8


@pytest.mark.parametrize("name", [*DOCUMENTS, "CHANGELOG.md"])
def test_links_lead_somewhere(name: str) -> None:
    document = ROOT / name
    text = document.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    local = [link for link in links if not link.startswith(("http:", "https:"))]
    missing = [link for link in local if not (document.parent / link).exists()]
    assert missing == []


def test_make_targets_that_are_named_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w+):", makefile, re.MULTILINE))
    named = {
        target
        for name in DOCUMENTS
        for target in re.findall(r"(?:`|\$ |^)make (\w+)", (ROOT / name).read_text("utf-8"))
    }
    assert {"demo", "test"} <= named <= targets


def test_continuous_integration_calls_the_documented_test_command() -> None:
    calls = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert calls.index("make check") < calls.index("make test")


def test_every_diagnostic_code_is_in_the_manual() -> None:
    from gradspec_codegen.diagnostics import CODES
    from gradspec_codegen.prove.verdict import PROOF_CODES

    manual = (ROOT / "docs" / "spec.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(GS\d+)` \| (.+?) \|$", manual, re.MULTILINE))
    assert rows == CODES | PROOF_CODES


def test_every_status_in_the_lock_is_as_the_readme_says() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "every op of the table is `proved`" in readme
    lock = (ROOT / "specs" / "proofs.lock").read_text(encoding="utf-8")
    lines = [line for line in lock.splitlines() if "sha256:" in line]
    assert [line for line in lines if line.split()[1] != "proved"] == []

"""Formatting generated code: ruff's formatter and import sorter, as the rest of the house."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ruff import find_ruff_bin

_LINE_LENGTH = "100"
_OWN_PACKAGES = 'lint.isort.known-first-party=["gradspec"]'


def format_tree(directory: Path) -> None:
    """Format every Python file below `directory` in place."""
    ruff = find_ruff_bin()
    settings = ["--isolated", "--quiet", "--no-cache"]
    length = ["--line-length", _LINE_LENGTH]
    rules = ["--select", "I,F401,RUF022,RUF023", "--fix", "--config", _OWN_PACKAGES]
    _run([ruff, "check", *settings, *length, *rules, str(directory)])
    _run([ruff, "format", *settings, *length, str(directory)])


def format_source(text: str) -> str:
    """One piece of code, formatted as it stands in a generated module."""
    settings = ["--isolated", "--quiet", "--no-cache", "--line-length", _LINE_LENGTH]
    command = [find_ruff_bin(), "format", *settings, "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{Path(command[0]).name} failed:\n{done.stdout}{done.stderr}")

"""Staging and replacing the generated tree: all of it, or nothing.

A run writes into a staging directory beside the target, formats and proves it there, and at the
very end the two directories change places in one system call. Killed at any moment it leaves
either the old tree or the new one.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .format import format_tree

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@contextmanager
def staged(target: Path, files: Mapping[str, str]) -> Iterator[Path]:
    """A directory beside `target` with formatted `files`, gone when the block ends."""
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(target)
    staging = Path(tempfile.mkdtemp(prefix=f"{_prefix(target)}{os.getpid()}-", dir=target.parent))
    try:
        for name, text in files.items():
            (staging / name).write_text(text, encoding="utf-8")
        format_tree(staging)
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def is_same(staging: Path, target: Path) -> bool:
    """Whether `target` already holds exactly the staged files."""
    return _contents(staging) == _contents(target)


def replace(target: Path, staging: Path) -> None:
    """Put the staged tree, if it compiles, in the place of `target`, which `staging` then holds."""
    for path in staging.glob("*.py"):
        compile(path.read_text(encoding="utf-8"), str(path), "exec")
    staging.chmod(0o755)  # mkdtemp makes private directories
    for path in staging.rglob("__pycache__"):
        shutil.rmtree(path)
    if not target.exists():
        os.rename(staging, target)
    elif not _exchange(target, staging):
        # No exchange on this system: two renames, with an instant between them.
        aside = staging.with_name(staging.name + ".old")
        os.rename(target, aside)
        os.rename(staging, target)
        os.rename(aside, staging)


def _contents(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in directory.glob("*.py")}


def _prefix(target: Path) -> str:
    return f".staging-{target.name}-"


def _remove_leftovers(target: Path) -> None:
    """Clear away the staging directories of runs that were killed."""
    for path in target.parent.glob(_prefix(target) + "*"):
        pid = path.name.removeprefix(_prefix(target)).partition("-")[0]
        if not (pid.isdigit() and Path(f"/proc/{pid}").exists()):
            shutil.rmtree(path, ignore_errors=True)


def _exchange(a: Path, b: Path) -> bool:
    """Swap two directories atomically; False where the system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    paths = os.fsencode(a), os.fsencode(b)
    return bool(renameat2(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE) == 0)

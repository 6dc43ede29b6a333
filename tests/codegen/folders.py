"""Folders as the generator leaves them, and all files in one."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from gradspec_codegen.emit.ownership import signed
from gradspec_codegen.emit.write import replace

OURS = {
    name: signed(name, f"# {name}\n", "ops.yaml")
    for name in ("__init__.py", "ops.py", "names/ops.py")
}


def generated(folder: Path) -> Path:
    """A folder as a run leaves it."""
    replace(folder, OURS, "ops.yaml")
    return folder


def everything(folder: Path) -> dict[str, object]:
    """All entries below a folder: bytes, where links lead, and modes."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        what = os.readlink(path) if path.is_symlink() else b"" if path.is_dir() else read(path)
        found[str(path.relative_to(folder))] = (what, stat.S_IMODE(path.lstat().st_mode))
    return found


def read(path: Path) -> bytes:
    return path.read_bytes() if stat.S_ISREG(path.lstat().st_mode) else b"no file"

"""Cache of what was built or written for programs, in files that later processes read.

These lie in `gradspec/programs` of the user's cache directory ($XDG_CACHE_HOME, or ~/.cache), which
only the user may read and write. The folder of a file is named by the hash of all that it depends
on, and the file by that of its own bytes, so that one that was damaged or put there by others is
made again.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Final

_NAME: Final = re.compile("[0-9a-f]{32}")


def file(parts: Iterable[str], suffix: str, make: Callable[[Path], None]) -> Path:
    """Return the file that depends on `parts`; if there is none that is whole, it is made.

    `make` writes to the path that it is given, in a folder of its own.
    """
    folder = _folder(parts)
    if folder.is_symlink() or folder.is_file():
        folder.unlink(missing_ok=True)
    for known in folder.glob(f"*{suffix}"):
        if _content(known) is not None:
            return known
        _remove(known)
    import tempfile

    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="build-") as room:
        made = Path(room) / f"made{suffix}"
        make(made)
        made.chmod(0o700)
        target = folder / f"{_hash(made.read_bytes())}{suffix}"
        folder.mkdir(mode=0o700, exist_ok=True)
        os.replace(made, target)
    return target


def content(parts: Iterable[str], suffix: str) -> bytes | None:
    """Return what is in the file that depends on `parts`; None if there is none that is whole."""
    folder = _folder(parts)
    if folder.is_symlink():
        return None
    found = (_content(known) for known in folder.glob(f"*{suffix}"))
    return next((each for each in found if each is not None), None)


def keep(parts: Iterable[str], suffix: str, content: bytes) -> None:
    """Write the file that depends on `parts`, in place of others; nothing if that fails."""
    import tempfile

    folder = _folder(parts)
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix="build-") as room:
            made = Path(room) / f"made{suffix}"
            made.write_bytes(content)
            made.chmod(0o600)
            if folder.is_symlink() or folder.is_file():
                folder.unlink(missing_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            target = folder / f"{_hash(content)}{suffix}"
            os.replace(made, target)
        for other in folder.glob(f"*{suffix}"):
            if other != target:
                _remove(other)
    except OSError:
        return


def named(folder: str, name: str) -> Path | None:
    """Return a file by the names that it had; None if it is gone, or not whole."""
    if not (_NAME.fullmatch(folder) and _NAME.fullmatch(Path(name).stem)):
        return None
    path = directory() / folder / Path(name).name
    return None if path.parent.is_symlink() or _content(path) is None else path


def _folder(parts: Iterable[str]) -> Path:
    return directory() / _hash("\0".join(parts).encode())


def text(parts: Iterable[str], make: Callable[[], str]) -> str:
    """Return the text that depends on `parts`, which `make` returns where none is kept."""
    made: list[str] = []

    def write(path: Path) -> None:
        made.append(make())
        path.write_text(made[0], encoding="utf-8", newline="")

    try:
        found = file(parts, ".txt", write)
        return made[0] if made else found.read_bytes().decode()
    except OSError:  # a full disk, or a file that another process has just removed
        return made[0] if made else make()


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _content(file: Path) -> bytes | None:
    """Return what is in a file that is the user's own, and has the bytes that its name tells."""
    try:
        status = file.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o022:
            return None
        if hasattr(os, "getuid") and status.st_uid != os.getuid():
            return None
        found = file.read_bytes()
    except OSError:
        return None
    return found if file.stem == _hash(found) else None


def _remove(file: Path) -> None:
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file, ignore_errors=True)
    else:
        file.unlink(missing_ok=True)


def directory() -> Path:
    """Return the folder of all files; one for this process if the user's cannot be written."""
    root = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = Path(root).expanduser() / "gradspec" / "programs"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        if hasattr(os, "getuid") and status.st_uid != os.getuid():
            return _own_directory()
        if status.st_mode & 0o077:
            folder.chmod(0o700)
        if not os.access(folder, os.W_OK):
            return _own_directory()
    except OSError:
        return _own_directory()
    return folder


@cache
def _own_directory() -> Path:
    """Make a folder that goes when the process ends."""
    import atexit
    import tempfile

    folder = tempfile.mkdtemp(prefix="gradspec-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)

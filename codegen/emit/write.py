"""Staging and replacing the generated tree: all of it, or nothing.

A run formats and proves in a private directory. At the very end the new tree is written beside the
old one, and the two change places in one system call. Killed at any moment it leaves either the
old tree or the new one; and it replaces nothing but what it has generated itself.
"""

from __future__ import annotations

import ctypes
import os
import re
import stat
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .format import format_tree
from .ownership import NAMES, Refusal, check_replaceable, remove_generated

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2

_MARKER = ".writing"
"""In a tree that is being written: the names of its files, so that they can be cleared away."""


@contextmanager
def staged(files: Mapping[str, str], verbatim: Mapping[str, str] | None = None) -> Iterator[Path]:
    """A private directory with formatted `files` and others, gone when the block ends."""
    with tempfile.TemporaryDirectory(prefix="gradspec-", ignore_cleanup_errors=True) as name:
        write_files(Path(name), files)
        format_tree(Path(name))
        write_files(Path(name), verbatim or {})
        yield Path(name)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into a folder by their paths in it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def contents(directory: Path) -> dict[str, str]:
    """The files of a generated directory by their paths in it; what is no text counts as empty."""
    found = {}
    for folder, inside in ((directory, ""), (directory / NAMES, f"{NAMES}/")):
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.is_file():
                try:
                    found[inside + path.name] = path.read_text(encoding="utf-8")
                except UnicodeDecodeError:
                    found[inside + path.name] = ""
    return found


def check_target(target: Path, source: str, discarded: Collection[str] = ()) -> None:
    """Raise Refusal unless `target` is absent, empty, or generated from `source` and unchanged.

    Files called `discarded` may be edited.
    """
    try:
        mode = target.lstat().st_mode
    except FileNotFoundError:
        _check_parents(target)
        return
    except OSError as error:
        raise Refusal(
            f"{target.name[:40]} cannot be a folder: {error.strerror}", _ANOTHER
        ) from None
    if stat.S_ISLNK(mode):
        raise Refusal(f"{target.name} is a symbolic link", "name the folder itself")
    if not stat.S_ISDIR(mode):
        raise Refusal(f"{target.name} is no folder", _ANOTHER)
    if target.name not in os.listdir(target.parent):
        raise Refusal(f"there is a folder {target.name}, but spelled in another case", _ANOTHER)
    if Path.cwd().is_relative_to(target):
        raise Refusal("this is the folder you stand in, or one above it", _ANOTHER)
    if os.path.ismount(target):
        raise Refusal(f"{target.name} is where a file system is mounted", _ANOTHER)
    if not (mode & stat.S_IWUSR and os.access(target, os.W_OK)):
        raise Refusal(f"{target.name} is read-only", _ANOTHER)
    check_replaceable(target, source, discarded)


_ANOTHER = "take an absent or empty folder, or one that was generated before"


def _check_parents(target: Path) -> None:
    """An absent target can be made: its parent is a folder that can be written to."""
    for parent in target.parents:
        if parent.is_dir():
            if not os.access(parent, os.W_OK):
                raise Refusal(f"{parent} is read-only", _ANOTHER)
            return
        if os.path.lexists(parent):
            raise Refusal(f"{parent} is no folder", _ANOTHER)


def replace(
    target: Path, files: Mapping[str, str], source: str, *, discard_edits: bool = False
) -> None:
    """Put signed files, if they compile, in the place of what `target` held.

    Raises Refusal, with everything as it was, if that is not all generated from `source`. With
    `discard_edits` what was edited is given up, if a file of that name is written anew.
    """
    discarded = files.keys() if discard_edits else ()
    for name, text in files.items():
        if name.endswith(".py"):
            compile(text, str(target / name), "exec")
    check_target(target, source, discarded)
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f"{_prefix(target)}{os.getpid()}-", dir=target.parent))
    try:
        _write(staging, files)
        staging.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o755)
        _swap(target, staging, source, discarded)
    finally:
        _clear(staging)


def _write(folder: Path, files: Mapping[str, str]) -> None:
    (folder / _MARKER).write_text("\n".join(files), encoding="utf-8")
    write_files(folder, files)
    (folder / _MARKER).unlink()


def _swap(target: Path, staging: Path, source: str, discarded: Collection[str]) -> None:
    """Let the two change places, and back again if another process has written there."""
    if not target.exists():
        os.rename(staging, target)
        return
    old, is_exchanged = staging, _exchange(target, staging)
    if not is_exchanged:  # this system has none: two renames, with an instant between them
        old = staging.with_name(f"{staging.name}-old")
        os.rename(target, old)
        os.rename(staging, target)
    try:
        check_replaceable(old, source, discarded)
    except Refusal:
        if not (is_exchanged and _exchange(target, staging)):
            os.rename(target, staging)
            os.rename(old, target)
        raise
    remove_generated(old, discarded=discarded)


def _clear(folder: Path) -> None:
    """Remove a tree that was staged, whole or in part, or replaced; nothing that is not ours."""
    marker = folder / _MARKER
    if folder.is_dir():
        partial = marker.read_text(encoding="utf-8").split("\n") if marker.is_file() else []
        remove_generated(folder, frozenset({_MARKER, *partial} if marker.is_file() else ()))


def write_file(path: Path, text: str) -> None:
    """Replace a file at once, unless it is the same: a reader sees the old one or the new one."""
    if path.is_file() and path.read_text(encoding="utf-8", errors="replace") == text:
        return
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    temporary = Path(name)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        temporary.chmod(stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _prefix(target: Path) -> str:
    return f".staging-{target.name}-"


def remove_leftovers(target: Path) -> None:
    """Clear away what runs that were killed had written beside `target`."""
    if not target.parent.is_dir():
        return
    pattern = re.compile(re.escape(_prefix(target)) + r"(?P<pid>\d+)-\w{8}(-old)?")
    for path in target.parent.iterdir():
        found = pattern.fullmatch(path.name)
        if found and not path.is_symlink() and not _is_running(int(found["pid"])):
            _clear(path)


def _is_running(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # to ask would be to send it a signal
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _exchange(a: Path, b: Path) -> bool:
    """Swap two directories atomically; False where the system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    paths = os.fsencode(a), os.fsencode(b)
    return bool(renameat2(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE) == 0)

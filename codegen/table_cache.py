"""A table as it was read last, kept in the user's folder for caches.

To read and check gradspec's own entries takes seconds, which every command on another spec would
wait for. A file is named by the hash of all that the table was made from, its specs and the source
of the generator, and by that of its own bytes. One that is damaged, or that others can write, is
not read.
"""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import re
import stat
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from .proof_cache import MONTH, cache_folder
from .spec.load import load_table
from .spec.model import Table
from .spec.runtime_files import runtime_directory

_NAME = re.compile(r"[0-9a-f]+-[0-9a-f]{32}\.pickle")


def read(spec: Path) -> Table:
    """The table of a spec that builds on no other. Raises SpecError, as `load_table` does."""
    made_from = _made_from(spec)
    table = _kept(made_from)
    if table is None:
        table = load_table(spec)
        _keep(table, made_from)
    return table


def _made_from(spec: Path) -> str:
    """Digest the specs in a folder, the kernels that they may call, and all that reads them."""
    folders = Path(__file__).parent, runtime_directory() / "kernels"
    files = [*spec.parent.rglob("*.yaml"), *(each for f in folders for each in f.rglob("*.py"))]
    digest = hashlib.sha256(f"{sys.version}\0{spec.resolve()}".encode())
    for file in sorted(files):
        digest.update(b"\0" + os.fsencode(file) + b"\0")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:32]


def _kept(made_from: str) -> Table | None:
    with suppress(OSError):
        for file in _folder().glob(f"{made_from}-*.pickle"):
            with file.open("rb") as opened:
                content = opened.read() if _is_own(opened.fileno()) else b""
            if file.name == _name(made_from, content):
                return _unpickled(content)
    return None


def _unpickled(content: bytes) -> Table:
    was_enabled = gc.isenabled()
    gc.disable()  # which would look at all that is read so far again and again
    try:
        table: Table = pickle.loads(content)
        return table
    finally:
        if was_enabled:
            gc.enable()


def _is_own(file: int) -> bool:
    """Return whether only the user can have written an open file."""
    status = os.fstat(file)
    is_mine = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return stat.S_ISREG(status.st_mode) and not status.st_mode & 0o022 and is_mine


def _keep(table: Table, made_from: str) -> None:
    """Write a table down; not at all where nothing can be written."""
    content = pickle.dumps(table, pickle.HIGHEST_PROTOCOL)
    with suppress(OSError):
        folder = _folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for other in folder.glob("*.pickle"):
            if _NAME.fullmatch(other.name) and other.stat().st_mtime < time.time() - MONTH:
                other.unlink()
        handle, name = tempfile.mkstemp(prefix=".table-", dir=folder)  # for the user alone
        try:
            with open(handle, "wb") as file:
                file.write(content)
            os.replace(name, folder / _name(made_from, content))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _name(made_from: str, content: bytes) -> str:
    return f"{made_from}-{hashlib.sha256(content).hexdigest()[:32]}.pickle"


def _folder() -> Path:
    return cache_folder() / "tables"

"""Proofs of a run that wrote nothing, kept for the next one in the user's folder for caches.

One mistake in a spec keeps the package from being written; the ops that are right need not be
proved again when it is mended, nor after an interruption. A proof counts by its digest, as in
`proofs.lock`; the file is removed when the package is written, or when a month is over.

The variable `GRADSPEC_CACHE` names another folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import platformdirs

from .emit.write import write_file
from .prove.report import lock
from .target import Target

MONTH = 30 * 24 * 3600.0

_NAME = re.compile(r"[0-9a-f]{32}\.lock")


def read(target: Target) -> dict[str, lock.Entry]:
    """The entries by name that were kept for the folder of a package; none if it has none."""
    return lock.read(_file(target)) if target.out is not None else {}


def keep(target: Target, entries: Collection[lock.Entry]) -> None:
    """Write entries down in the place of those kept before; not at all where nothing can be."""
    if not entries:
        return
    file = _file(target)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        for other in file.parent.glob("*.lock"):
            if _NAME.fullmatch(other.name) and other.stat().st_mtime < time.time() - MONTH:
                other.unlink()
        write_file(file, lock.text(entries))


def forget(target: Target) -> None:
    """Remove what was kept for the folder of a package."""
    with suppress(OSError):
        _file(target).unlink(missing_ok=True)


def _file(target: Target) -> Path:
    """The file for the folder that a run writes to."""
    name = hashlib.sha256(os.fsencode(os.path.abspath(target.out or ""))).hexdigest()[:32]
    return cache_folder() / "proofs" / f"{name}.lock"


def cache_folder() -> Path:
    """The user's folder for what gradspec keeps, or that which `GRADSPEC_CACHE` names."""
    folder = os.environ.get("GRADSPEC_CACHE")
    return Path(folder) if folder else platformdirs.user_cache_path("gradspec", appauthor=False)

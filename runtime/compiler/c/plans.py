"""Plans: what became of a capture, kept so that later processes neither optimise nor write it.

A plan belongs to what was captured: all steps with their arguments, the layouts of values,
constants byte by byte, and which gradients are asked for; to the code of gradspec that would make a
program of it, as it lies on disk; and to NumPy, BLAS, compiler and processor. It says where the
values of a program lie, which functions of its shared object are called, and what is saved. It is
plain data in JSON, in a file that the hash of its bytes names, as the shared object is. Whatever is
wrong with it, the program is built again.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from ..kept import disk_cache
from ..kept.plain import Plain, UnknownTypeError, Writer
from . import blas, toolchain
from .forms import Form, connected, form_as_plain, form_of_plain, loaded
from .toolchain import NoCompilerError

if TYPE_CHECKING:
    from ..joint import Trace

_FORMAT: Final = "1"
"""Increased when plans of older versions must not be read any more."""
_SUFFIX: Final = ".json"
_READ: Final = ("compiler", "core", "dtypes", "fast", "inplace", "kernels")
"""Folders whose code decides what becomes of a capture."""

_WRONG: Final = (AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""Errors of what is no plan."""

Run = Callable[..., Any]
T = TypeVar("T")


class Plans:
    """The plans of one capture: that of the pass forward, and one for each choice of results."""

    def __init__(self, trace: Trace, key: tuple[str, ...], objects: list[Any]) -> None:
        self._key = key
        self._objects = objects
        self._constants = [array for _, array in trace.program.constants]

    def found(self, name: str, read: Callable[[Plain], T]) -> tuple[Run, T] | None:
        """Return the function of a program, and what was kept beside it, `read`; None without."""
        content = disk_cache.content((*self._key, name), _SUFFIX)
        if content is None:
            return None
        try:
            plain = json.loads(content)
            path = disk_cache.named(*plain["library"])
            if path is None:
                return None
            form = form_of_plain(plain["form"], self._constants, self._objects)
            return connected(form, loaded(path)), read(plain["outline"])
        except _WRONG:
            return None

    def keeper(self, name: str, outline: Plain = None) -> Callable[[Form, Path], None]:
        """Return a function that keeps what was built, and something beside it."""

        def keep(form: Form, library: Path) -> None:
            try:
                plain = form_as_plain(form, self._constants, self._objects)
            except UnknownTypeError:
                return
            kept = {
                "library": (library.parent.name, library.name),
                "form": plain,
                "outline": outline,
            }
            disk_cache.keep((*self._key, name), _SUFFIX, json.dumps(kept).encode())

        return keep


def plans_of(trace: Trace) -> Plans | None:
    """Return the plans of a capture; None where none can be kept."""
    try:
        surroundings = _surroundings()
        writer = Writer()
        captured = _captured(writer, trace)
    except (NoCompilerError, OSError, UnknownTypeError):
        return None
    return Plans(trace, ("plan", *surroundings, captured), writer.objects)


def _captured(writer: Writer, trace: Trace) -> str:
    """Return all of a capture that programs are made of."""
    backwards = [
        (
            backward.roots,
            writer.several(backward.cotangents),
            [-1 if grad is None else writer.value(grad) for grad in backward.grads],
        )
        for backward in trace.backwards
    ]
    known = (
        writer.several(trace.inputs),
        writer.program(trace.program),
        trace.result_count,
        backwards,
        writer.values,
    )
    return json.dumps(known, separators=(",", ":"))


def _surroundings() -> tuple[str, ...]:
    """Return all else that decides what becomes of a capture."""
    library = blas.library()
    return (
        *(_FORMAT, _code(), toolchain.identity()),
        *(np.__version__, sys.version, str(os.cpu_count())),
        "no BLAS" if library is None else library.integer,
    )


@cache
def _code() -> str:
    """Return which files of gradspec there are: as Python tells whether its bytecode fits them."""
    root = str(Path(__file__).parents[2])
    found: list[str] = []
    folders = [os.path.join(root, name) for name in _READ]
    while folders:
        folder = folders.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith((".py", ".j2", ".c")):
                    status = entry.stat()
                    found.append(f"{folder} {name} {status.st_size} {status.st_mtime_ns}")
                elif entry.is_dir() and name != "__pycache__":
                    folders.append(entry.path)
    return "\n".join(sorted(found))

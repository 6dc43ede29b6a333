"""The backend for C: a program as loop nests, built by the system's compiler.

A program that an earlier process has built needs nothing of what writes C (see `plans.py`): modules
are imported when they are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..program import Program
from .forms import Form, entry
from .toolchain import NoCompilerError

if TYPE_CHECKING:
    from pathlib import Path

    from .sized import SharedTexts

__all__ = ["NoCompilerError", "build", "entry", "source_of"]


def build(
    program: Program,
    shared: SharedTexts | None = None,
    keep: Callable[[Form, Path], None] | None = None,
) -> Callable[..., tuple[Any, ...]]:
    """Return a function that runs a program: it takes the input arrays, and returns the outputs.

    Programs that differ by a size have what is built in common by `shared`. `keep` is told what a
    program was built from. A program that writes complex numbers to an input is one of NumPy's.

    It raises `NoCompilerError` where no compiler is found, or it fails, and ValueError when it is
    called with arrays of another dtype, shape or layout than the inputs of the program.
    """
    from .building import built

    return built(program, shared, keep)


def source_of(program: Program) -> str:
    """Return the C of a program, or its Python if there is no C; no compiler is needed."""
    from .building import source_of

    return source_of(program)

"""Which backend builds programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..core.user_warnings import warn_once
from . import numpy_backend
from .program import Program

NAMES: Final = ("auto", "c", "numpy")


@dataclass(frozen=True)
class Backend:
    """A backend by its name."""

    name: str

    def build(self, program: Program) -> Callable[..., Sequence[Any]]:
        """Return a function of the input arrays that answers the outputs.

        For C that needs a compiler: with `auto` NumPy is used without one, and a notice given once.
        """
        if self.name == "numpy":
            return numpy_backend.build(program)
        try:
            from . import c
        except ImportError:
            if self.name == "c":
                raise
            return numpy_backend.build(program)
        try:
            return c.build(program)
        except c.NoCompilerError as error:
            if self.name == "c":
                raise
            warn_once(f"gs.compile: {error} Programs run on NumPy.")
            return numpy_backend.build(program)


def backend_of(name: str) -> Backend:
    """Return the backend of a name; ValueError for one that there is not."""
    if name not in NAMES:
        raise ValueError(f"gs.compile: backend must be one of {', '.join(NAMES)}, not {name!r}")
    return Backend(name)

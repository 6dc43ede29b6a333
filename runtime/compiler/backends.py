"""Choice of the backend that builds programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ..core.user_warnings import warn_once
from .program import Program

if TYPE_CHECKING:
    from .c.plans import Plans
    from .joint import Trace

NAMES: Final = ("auto", "c", "numpy")


@dataclass(frozen=True)
class Backend:
    """A backend by its name."""

    name: str
    shared: Any = None
    """Parts of a build that programs share which differ by a size only."""

    def for_sizes(self) -> Backend:
        """Return the same backend for programs that differ by a size only."""
        if self.name == "numpy":
            return self
        from .c.sized import SharedTexts

        return Backend(self.name, SharedTexts())

    def plans_of(self, trace: Trace) -> Plans | None:
        """Return what earlier processes have made of a capture; None where that is not kept."""
        if self.name == "numpy" or self.shared is not None:
            return None
        try:
            from .c.plans import plans_of
        except ImportError:  # of ctypes: `build` says what is done without C
            return None
        return plans_of(trace)

    def begin(self) -> None:
        """Start to make what the first build needs, beside the work of this thread."""
        if self.name != "numpy":
            with suppress(ImportError):  # of ctypes: `build` says what is done without C
                from .c.toolchain import begin

                begin()

    def build(
        self, program: Program, keep: Callable[..., None] | None = None
    ) -> Callable[..., Sequence[Any]]:
        """Return a function of the input arrays that answers the outputs.

        `keep` is told what it was built from, if it is C. For C that needs a compiler: with `auto`
        NumPy is used without one, and a notice given once.
        """
        if self.name == "numpy":
            return _built_for_numpy(program)
        try:
            from .c import NoCompilerError, build
        except ImportError:
            if self.name == "c":
                raise
            return _built_for_numpy(program)
        try:
            return build(program, self.shared, keep)
        except NoCompilerError as error:
            if self.name == "c":
                raise
            warn_once(f"gs.compile: {error} Programs run on NumPy.")
            return _built_for_numpy(program)


def _built_for_numpy(program: Program) -> Callable[..., Sequence[Any]]:
    from .numpy_backend import build  # which a program of C that is kept does without

    return build(program)


def backend_of(name: str) -> Backend:
    """Return the backend of a name; ValueError for one that there is not."""
    if name not in NAMES:
        raise ValueError(f"gs.compile: backend must be one of {', '.join(NAMES)}, not {name!r}")
    return Backend(name)

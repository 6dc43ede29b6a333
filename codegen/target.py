"""What a run is about: the spec, the folder of the generated package, and what it is called."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from .diagnostics import Span
from .prove.report import lock
from .render.context import GENERATED_PACKAGE

STAGED_EXTENSION = "gradspec_staged_ops"
"""What proofs import a package of one's own as: its modules know each other by relative names."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a run reads and writes, and what the generated package is called."""

    spec: Path
    out: Path | None = None
    """None for commands that only read."""
    package: str = GENERATED_PACKAGE
    kernels: Path | None = None
    """A file of kernels that formulas of the spec may call."""
    command: str = "make codegen"
    """What generates the package, as its headers and messages say."""
    place: Span = field(default_factory=lambda: Span("--out", 1, 1))
    """Where the folder was named."""
    named: str = ""
    """What the folder was called on the command line."""

    @property
    def lock(self) -> Path | None:
        """The proofs lie in the package; those of gradspec's own table beside the table."""
        if not self.is_extension:
            return self.spec.with_name(lock.NAME)
        return None if self.out is None else self.out / lock.NAME

    @property
    def is_extension(self) -> bool:
        """Whether the package adds ops to gradspec's own table."""
        return self.package != GENERATED_PACKAGE

    @property
    def staged_as(self) -> str:
        """What the package is called while it is proved."""
        return STAGED_EXTENSION if self.is_extension else self.package

    @property
    def source(self) -> str:
        """What the generated files say they come from."""
        return plain(self.spec.name) if self.is_extension else "the table in specs/"


def plain(text: str) -> str:
    """A text as it may stand anywhere in generated code: nothing in it ends a string or a line."""
    return "".join(c if c.isalnum() or c in " -_./,+=:()[]'" else "?" for c in text)


def builtin_spec() -> Path:
    """gradspec's own table, which an extension builds on."""
    return Path(str(files("gradspec_codegen.specs") / "derivatives.yaml"))

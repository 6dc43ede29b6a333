"""The target of a run: the spec, the folder of the generated package, and its name."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from .diagnostics import Span
from .prove.report import lock
from .render.context import GENERATED_PACKAGE

NUMPY = "numpy"
"""The framework of gradspec's own runtime."""

STAGED_EXTENSION = "gradspec_staged_ops"
"""The name under which proofs import a package of one's own; its modules import relatively."""


@dataclass(frozen=True, slots=True)
class Target:
    """The paths that a run reads and writes, and the name of the generated package."""

    spec: Path
    out: Path | None = None
    """None for commands that only read."""
    package: str = GENERATED_PACKAGE
    kernels: Path | None = None
    """A file of kernels that formulas of the spec may call."""
    command: str = "make codegen"
    """The command that generates the package, as its headers and messages give it."""
    place: Span = field(default_factory=lambda: Span("--out", 1, 1))
    """The place at which the folder was named."""
    named: str = ""
    """The folder as the command line names it."""
    proofs: Path | None = None
    """The lock of another package of the same spec, whose proofs count as well."""
    framework: str = NUMPY
    """The framework that the package is for: `numpy` for gradspec's own runtime."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders in which modules that a spec names are looked for, besides Python's path."""
        above = [] if self.out is None else [self.out.parent]
        while above and (above[-1] / "__init__.py").is_file():
            above.append(above[-1].parent)
        return tuple(dict.fromkeys([self.spec.resolve().parent, *above[-1:], Path.cwd()]))

    @property
    def lock(self) -> Path | None:
        """The proofs lie in the package; those of gradspec's own table beside the table."""
        if not self.is_extension:
            return self.spec.with_name(lock.NAME)
        return None if self.out is None else self.out / lock.NAME

    @property
    def is_extension(self) -> bool:
        """Return whether the package adds ops to gradspec's own table."""
        return self.package != GENERATED_PACKAGE

    @property
    def staged_as(self) -> str:
        """Return the name of the package while it is proved."""
        return STAGED_EXTENSION if self.is_extension else self.package

    @property
    def source(self) -> str:
        """Return the source that the generated files name."""
        if not self.is_extension:
            return "the table in specs/"
        name = plain(self.spec.name)
        return name if self.framework == NUMPY else f"{name} for {self.framework}"


def plain(text: str) -> str:
    """A text as it may stand anywhere in generated code: nothing in it ends a string or a line."""
    return "".join(c if c.isalnum() or c in " -_./,+=:()[]'" else "?" for c in text)


def builtin_spec() -> Path:
    """gradspec's own table, which an extension builds on."""
    return Path(str(files("gradspec_codegen.specs") / "derivatives.yaml"))

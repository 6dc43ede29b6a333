"""What the generator says about a mistake: data first, text last."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A place in a spec file: 1-based line and column, and a width in characters."""

    path: str
    line: int
    column: int
    width: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake: a stable code, where it is, what is wrong and what to do about it."""

    code: str
    span: Span
    message: str
    help: str = ""


class SpecError(Exception):
    """All the mistakes of a run, raised together."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__(f"{len(diagnostics)} mistakes in the spec")
        self.diagnostics = sorted(diagnostics, key=lambda d: d.span)

"""What the generator says about a mistake: data first, text last."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
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


class Report:
    """Collects the mistakes of a run, so that an author sees them all at once."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []

    def error(self, code: str, span: Span, message: str, help: str = "") -> None:
        """Note one mistake and go on."""
        self.diagnostics.append(Diagnostic(code, span, message, help))

    def raise_if_any(self) -> None:
        """Raise SpecError if a mistake was noted."""
        if self.diagnostics:
            raise SpecError(self.diagnostics)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean `x`?` for the closest known word, an empty string if none is close."""
    close = difflib.get_close_matches(word, sorted(set(known)), n=1, cutoff=0.6)
    return f"did you mean `{close[0]}`?" if close else ""


class SpecError(Exception):
    """All the mistakes of a run, raised together."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__(f"{len(diagnostics)} mistakes in the spec")
        self.diagnostics = sorted(diagnostics, key=lambda d: d.span)

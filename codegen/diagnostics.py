"""Diagnostics: mistakes as data first, as text last."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CODES = {
    "GS001": "a file that cannot be read",
    "GS002": "a file that is not UTF-8",
    "GS003": "a character that is not text",
    "GS004": "not YAML",
    "GS005": "a YAML anchor or alias",
    "GS006": "a YAML tag",
    "GS007": "YAML nested too deeply",
    "GS008": "a key twice",
    "GS009": "several YAML documents",
    "GS010": "a value of the wrong kind",
    "GS011": "an item that is no op, family or include",
    "GS012": "an unknown key",
    "GS013": "an include that is refused",
    "GS014": "a family that cannot be a module",
    "GS020": "not a signature",
    "GS021": "an unknown type",
    "GS022": "a default that does not fit its type",
    "GS023": "an op without an output",
    "GS024": "a name that is taken or not allowed",
    "GS025": "arguments in a wrong order",
    "GS030": "not a formula",
    "GS031": "Python that is not part of the formula language",
    "GS032": "a path without a return, or code after it",
    "GS033": "a formula or number that is too large, or a number that is not real",
    "GS034": "an unknown name",
    "GS035": "an unknown function",
    "GS036": "a call that fits no overload",
    "GS037": "an assignment that hides an argument",
    "GS038": "a primitive outside `forward`",
    "GS039": "a definition that calls itself",
    "GS040": "no definition, or two",
    "GS041": "a rule of a composite",
    "GS042": "a gradient of something that is no tensor",
    "GS043": "a missing gradient formula",
    "GS044": "a missing JVP",
    "GS045": "a VJP that does not use the gradient",
    "GS046": "a rule with a wrong number of gradients",
    "GS047": "`auto_linear` on what is not linear",
    "GS048": "two rules for one argument",
    "GS049": "flags that do not fit the outputs",
    "GS050": "a name with two meanings",
    "GS051": "an unknown word",
    "GS052": "an example of an unknown argument",
    "GS053": "an example without a needed argument",
    "GS054": "an example's value of the wrong kind",
    "GS056": "a domain that is no condition on an argument",
    "GS057": "promotion of something that is no tensor argument",
    "GS058": "a kink that is no condition and factor",
    "GS059": "a kernel without a definition, that is no kernel, or that the definition calls",
    "GS060": "a requirement that is no condition on structure and plain values",
    "GS061": "an example that does not meet the requirements",
    "GS080": "a folder that nothing is generated into",
    "GS081": "a package that could not be imported",
    "GS082": "a file that cannot be kernels",
    "GS083": "a setting in `pyproject.toml` that is not known, or leads nowhere",
    "GS084": "a file that is no certificate, or that none may replace",
    "GS085": "a certificate that does not hold",
    "GS086": "a backend that is unknown, not installed, or has failed",
    "GS087": "an op that has no equivalent in a framework",
    "GS088": "a framework that is not installed, or older than what is emitted for it",
    "GS089": "a function that a spec names and that the command does not let run",
    "GS090": "a formula that loses digits",
}
"""Every code of a spec mistake and what it is, for the documentation."""

_MAX_WIDTH = 160
_MAX_BYTES = 8 * 1024 * 1024


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
        count = "1 mistake" if len(diagnostics) == 1 else f"{len(diagnostics)} mistakes"
        super().__init__(f"{count} in the spec")
        self.diagnostics = sorted(diagnostics, key=lambda d: d.span)


MAX_MISTAKES = 200
"""No reader needs more, and a hostile file has as many as it has lines."""


class Report:
    """Collects the mistakes of a run, so that an author sees them all at once."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []

    def error(self, code: str, span: Span, message: str, help: str = "") -> None:
        """Note one mistake and go on; raises SpecError where there are too many to go on."""
        self.diagnostics.append(Diagnostic(code, span, message, help))
        if len(self.diagnostics) >= MAX_MISTAKES:
            self.raise_if_any()

    def raise_if_any(self) -> None:
        """Raise SpecError if a mistake was noted."""
        if self.diagnostics:
            raise SpecError(self.diagnostics)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``did you mean `x`?`` for the closest known word, an empty string if none is close."""
    # Comparing is quadratic in the length: a hostile word must not take minutes.
    close = difflib.get_close_matches(word[:100], sorted(set(known)), n=1, cutoff=0.6)
    return f"did you mean `{close[0]}`?" if close else ""


def render(
    diagnostics: Sequence[Diagnostic],
    *,
    color: bool = False,
    texts: Mapping[str, str] | None = None,
) -> str:
    """The mistakes as text: message, place, the line with a caret, help; a blank line between.

    A line is shown only if its file can still be read; `texts` has what was never in a file. What
    is not printable is replaced, so that a spec cannot write to the terminal by way of its
    mistakes.
    """
    paths = {diagnostic.span.path for diagnostic in diagnostics}
    lines: dict[str, Sequence[str]] = {path: _file_lines(path) for path in paths}
    lines |= {path: _printable(text).split("\n") for path, text in (texts or {}).items()}
    style = _Style(color)
    return "\n\n".join(_render_one(found, lines[found.span.path], style) for found in diagnostics)


@dataclass(frozen=True, slots=True)
class _Style:
    color: bool

    def bold(self, text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if self.color else text

    def red(self, text: str) -> str:
        return f"\x1b[1;31m{text}\x1b[0m" if self.color else text

    def blue(self, text: str) -> str:
        return f"\x1b[1;34m{text}\x1b[0m" if self.color else text


def _render_one(diagnostic: Diagnostic, file_lines: Sequence[str], style: _Style) -> str:
    span = diagnostic.span
    gutter = " " * len(str(span.line))
    message, help = _printable(diagnostic.message), _printable(diagnostic.help)
    lines = [
        style.red(f"error[{diagnostic.code}]") + style.bold(f": {message}"),
        f"{gutter}{style.blue('-->')} {span}",
    ]
    if span.line <= len(file_lines):
        text, indent, width = _window(file_lines[span.line - 1], span)
        lines += [
            style.blue(f"{gutter} |"),
            style.blue(f"{span.line} |") + f" {text}".rstrip(),
            style.blue(f"{gutter} |") + f" {indent}{style.red('^' * width)}",
        ]
    if help:
        lines.append(_help_line(gutter, "help", help, style))
    return "\n".join(lines)


def _help_line(gutter: str, title: str, help: str, style: _Style) -> str:
    return style.blue(f"{gutter} =") + f" {style.bold(title)}: {help}"


def render_help(diagnostic: Diagnostic, help: str, title: str = "help", *, color: bool) -> str:
    """The line with what helps, for a mistake that was shown before that was known."""
    gutter = " " * len(str(diagnostic.span.line))
    return _help_line(gutter, _printable(title), _printable(help), _Style(color))


def _window(line: str, span: Span) -> tuple[str, str, int]:
    """The part of a line to show, the indent of its caret, and the caret's width."""
    first = 0 if len(line) <= _MAX_WIDTH else max(0, span.column - 1 - _MAX_WIDTH // 2)
    text = line[first : first + _MAX_WIDTH]
    column = span.column - 1 - first
    # A tab stays a tab, so that the caret stands below its character.
    indent = "".join(
        "\t" if character == "\t" else " " for character in text[:column].ljust(column)
    )
    return text, indent, max(1, min(span.width, len(text) - column))


def _file_lines(path: str) -> list[str]:
    """The lines of a spec file; none if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(_MAX_BYTES).decode("utf-8-sig", errors="replace")
    except (OSError, ValueError):
        return []
    return _printable(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")


def _printable(text: str) -> str:
    return "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )

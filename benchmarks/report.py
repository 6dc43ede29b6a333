"""Measurements: a row of figures, and its text, Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Literal

from .libraries import COMPILED, GRADSPEC, LIBRARIES


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a figure by library name."""

    name: str
    title: str
    doc: str
    unit: Literal["s", "B"]
    figures: dict[str, float]
    subject: str = GRADSPEC.name
    """The library whose figure is divided by the others'."""

    def ratios(self) -> dict[str, float]:
        """Return the ratio of the subject's figure to that of each other library.

        Eager gradspec is not compared with compiled programs, but they are with it.
        """
        own = self.figures.get(self.subject)
        left_out = (self.subject, COMPILED.name)
        return {
            name: own / figure
            for name, figure in self.figures.items()
            if own is not None and name not in left_out
        }

    def shown(self, library: str) -> str:
        """A figure with its unit; a dash where the library took no part."""
        if library not in self.figures:
            return "–"
        figure = self.figures[library]
        return duration(figure) if self.unit == "s" else f"{figure / 1e6:.1f} MB"


def compared(rows: Sequence[Row]) -> list[Row]:
    """Return the rows whose ratios are looked at: those with compiled programs once more."""
    compiled = [
        replace(
            row,
            name=f"{row.name}{OF_COMPILED}",
            title=f"{row.title}, compiled",
            subject=COMPILED.name,
        )
        for row in rows
        if COMPILED.name in row.figures
    ]
    return [*(row for row in rows if row.ratios()), *(row for row in compiled if row.ratios())]


OF_COMPILED: Final = "-compiled"
"""Ends of the names of rows about compiled programs."""


def duration(seconds: float) -> str:
    """`8.1 µs`, `163 µs`, `1.20 ms`, `32.4 ms`, `2.31 s`: three digits."""
    scale, unit = next(
        (scale, unit)
        for scale, unit in ((1e6, "µs"), (1e3, "ms"), (1, "s"))
        if seconds * scale < 999.5 or unit == "s"
    )
    value = seconds * scale
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 or unit == "µs" else 2
    return f"{value:.{digits}f} {unit}"


def columns(rows: Sequence[Row]) -> list[str]:
    """The libraries that took part in any row, in their usual order."""
    return [name for name in LIBRARIES if any(name in row.figures for row in rows)]


def write_json(rows: Sequence[Row], machine: Mapping[str, str], effort: str, path: Path) -> None:
    """The figures, in seconds and bytes, for programs."""
    content = {
        "machine": machine,
        "effort": effort,
        "rows": [_content(row) for row in rows],
    }
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_sizes_json(
    figures: Mapping[int, Mapping[str, float]], machine: Mapping[str, str], path: Path
) -> None:
    """The seconds of a call, by number of elements and library."""
    content = {"machine": machine, "seconds": figures}
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _content(row: Row) -> dict[str, object]:
    content = asdict(row) | {"ratios": row.ratios()}
    del content["subject"]
    if COMPILED.name in row.figures:
        content["compiled_ratios"] = replace(row, subject=COMPILED.name).ratios()
    return content


def markdown(rows: Sequence[Row], machine: Mapping[str, str]) -> str:
    """The table for a document, with where and when it was measured."""
    names = columns(rows)
    packages = ("numpy", "torch", "jax", "autograd", "mygrad", "python")
    versions = ", ".join(f"{name} {machine[name]}" for name in packages if name in machine)
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores, {machine['date']}; {versions}:",
        "",
        f"| forward and backward | {' | '.join(LIBRARIES[name].title for name in names)} |",
        "|---|" + "---:|" * len(names),
        *(f"| {row.doc} | {' | '.join(map(row.shown, names))} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"

"""Measurements: a row of figures, and its text, Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from .libraries import GRADSPEC, LIBRARIES


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a figure by library name."""

    name: str
    title: str
    doc: str
    unit: Literal["s", "B"]
    figures: dict[str, float]

    def ratios(self) -> dict[str, float]:
        """Return the ratio of gradspec's figure to that of each other library."""
        return {
            name: self.figures[GRADSPEC.name] / figure
            for name, figure in self.figures.items()
            if name != GRADSPEC.name
        }

    def shown(self, library: str) -> str:
        """A figure with its unit; a dash where the library took no part."""
        if library not in self.figures:
            return "–"
        figure = self.figures[library]
        return duration(figure) if self.unit == "s" else f"{figure / 1e6:.1f} MB"


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
        "rows": [asdict(row) | {"ratios": row.ratios()} for row in rows],
    }
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


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

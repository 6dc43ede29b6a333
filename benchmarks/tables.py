"""Measurements on the terminal: the figures, and the ratios with their bounds."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from .bounds import Bounds, verdicts
from .libraries import LIBRARIES
from .report import Row, columns, compared


def print_figures(rows: Sequence[Row], console: Console) -> None:
    """Times and memory, a column for each library."""
    names = columns(rows)
    table = Table(title="Forward and backward: median time of a call")
    table.add_column("case", no_wrap=True)
    for name in names:
        table.add_column(LIBRARIES[name].title, justify="right")
    for row in rows:
        table.add_row(row.title, *map(row.shown, names))
    console.print(table)


def print_ratios(rows: Sequence[Row], bounds: Bounds, console: Console) -> None:
    """gradspec divided by each library, beside the bound if there is one."""
    judged_rows = compared(rows)
    names = [name for name in columns(rows) if any(name in row.ratios() for row in judged_rows)]
    if not judged_rows:
        return
    table = Table(title="gradspec / library (below 1: gradspec is better), and the bounds")
    table.add_column("case", no_wrap=True)
    for name in names:
        table.add_column(LIBRARIES[name].title, justify="right")
    table.add_column("bounds", justify="right", no_wrap=True)
    for row in judged_rows:
        ratios, judged = row.ratios(), verdicts(row, bounds)
        cells = [f"{ratios[name]:.2f}" if name in ratios else "–" for name in names]
        for name, verdict in judged.items():
            color = "green" if verdict.is_met else "red"
            cells[names.index(name)] = f"[{color}]{verdict}[/]"
        missed = [verdict for verdict in judged.values() if not verdict.is_met]
        table.add_row(row.title, *cells, "[red]not met[/]" if missed else "met" if judged else "")
    console.print(table)

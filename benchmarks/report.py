"""What was measured, as a table, a JSON file and a picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

BY_HAND = "NumPy by hand"


def pytorch(threads: int) -> str:
    """What PyTorch is called with a number of threads."""
    return f"PyTorch, {threads} thread{'s' if threads > 1 else ''}"


COLORS = {
    "gradspec": "#1971c2",
    pytorch(1): "#f76707",
    pytorch(2): "#ffc078",
    BY_HAND: "#adb5bd",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One case: seconds per call, by library."""

    name: str
    doc: str
    seconds: dict[str, float]

    def ratio(self, others: Sequence[str]) -> float:
        """How many times the time of the fastest of the others gradspec takes."""
        return self.seconds["gradspec"] / min(self.seconds[other] for other in others)


def print_table(rows: Sequence[Row], console: Console) -> None:
    """Times and ratios; a ratio below 1 means that gradspec is faster."""
    libraries = list(rows[0].seconds)
    torches = [name for name in libraries if name.startswith("PyTorch")]
    rivals = {"PyTorch": torches, BY_HAND: [BY_HAND]} if torches else {BY_HAND: [BY_HAND]}
    table = Table(title="Forward and backward, median time of a call")
    table.add_column("case", no_wrap=True)
    for name in [*libraries, *(f"gradspec / {rival}" for rival in rivals)]:
        table.add_column(name, justify="right")
    for row in rows:
        ratios = [row.ratio(names) for names in rivals.values()]
        table.add_row(
            row.name,
            *(duration(row.seconds[name]) for name in libraries),
            *(f"[{'green' if ratio <= 1 else 'yellow'}]{ratio:.2f}[/]" for ratio in ratios),
        )
    console.print(table)
    if torches:
        console.print("The ratio to PyTorch is to its better number of threads.")


def duration(seconds: float) -> str:
    """`163 µs`, `1.20 ms`."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.2f} ms"


def write_json(rows: Sequence[Row], machine: dict[str, str], path: Path) -> None:
    """The figures, for programs."""
    content = {"machine": machine, "rows": [asdict(row) for row in rows]}
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_plot(rows: Sequence[Row], machine: dict[str, str], path: Path) -> None:
    """Bars on a logarithmic axis, one group a case."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    libraries = list(rows[0].seconds)
    height = 0.8 / len(libraries)
    figure, axes = pyplot.subplots(figsize=(9, 1.3 + 0.9 * len(rows)), layout="constrained")
    for index, name in enumerate(libraries):
        places = [
            number + (index - (len(libraries) - 1) / 2) * height for number in range(len(rows))
        ]
        values = [row.seconds[name] * 1e6 for row in rows]
        bars = axes.barh(places, values, height * 0.92, label=name, color=COLORS[name])
        axes.bar_label(bars, [duration(value / 1e6) for value in values], padding=3, fontsize=8)
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.margins(x=0.12)
    axes.set_xlabel("µs per forward and backward pass (log scale; shorter is better)")
    axes.set_title(f"{machine['cpu']}, {machine['cores']} cores, {machine['date']}", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper right")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def markdown(rows: Sequence[Row], machine: dict[str, str]) -> str:
    """The table for a document, with where and when it was measured."""
    libraries = list(rows[0].seconds)
    versions = ", ".join(
        f"{name} {machine[name]}" for name in ("numpy", "torch", "python") if name in machine
    )
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores, {machine['date']}; {versions}:",
        "",
        f"| forward and backward | {' | '.join(libraries)} |",
        "|---|" + "---:|" * len(libraries),
        *(
            f"| {row.doc} | {' | '.join(duration(row.seconds[name]) for name in libraries)} |"
            for row in rows
        ),
    ]
    return "\n".join(lines) + "\n"

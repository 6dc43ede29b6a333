"""Pictures of the measurements: figures relative to PyTorch's, and cost against size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from .baseline import REFERENCES
from .libraries import GRADSPEC, LIBRARIES
from .report import Row, columns


def write_plot(rows: Sequence[Row], machine: Mapping[str, str], path: Path) -> None:
    """A line for each row, a dot for each library, on a logarithmic axis; left is better."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = columns(rows)
    reference = next((name for name in REFERENCES if name in names), GRADSPEC.name)
    shown = [row for row in rows if reference in row.figures]
    figure, axes = pyplot.subplots(figsize=(9, 1.6 + 0.36 * len(shown)), layout="constrained")
    axes.axvline(1, color="#ced4da", linewidth=1, zorder=1)
    for name in reversed(names):
        places = [number for number, row in enumerate(shown) if name in row.figures]
        values = [shown[place].figures[name] / shown[place].figures[reference] for place in places]
        library, size = LIBRARIES[name], 70 if name == GRADSPEC.name else 40
        axes.scatter(values, places, size, library.color, label=library.title, zorder=3)
    axes.set_yticks(range(len(shown)), [row.title for row in shown])
    axes.grid(axis="y", color="#f1f3f5", zorder=0)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(f"relative to {LIBRARIES[reference].title} (log scale; left is better)")
    axes.set_title(f"{machine['cpu']}, {machine['cores']} cores, {machine['date']}", fontsize=9)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], frameon=False, loc="outside upper center", ncols=4)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def write_sizes(
    figures: Mapping[int, Mapping[str, float]], machine: Mapping[str, str], path: Path
) -> None:
    """Draw the time of a call, by number of elements and library, on two logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "sizes"  # the same file for the same figures
    figure, axes = pyplot.subplots(figsize=(9, 6), layout="constrained")
    for name, library in LIBRARIES.items():
        sizes = [size for size, times in figures.items() if name in times]
        if sizes:
            times = [figures[size][name] for size in sizes]
            width = 2.5 if library.module == GRADSPEC.module else 1.5
            axes.plot(sizes, times, "o-", color=library.color, label=library.title, lw=width, ms=4)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("elements (float32)")
    axes.set_ylabel("seconds, forward and backward")
    axes.grid(color="#f1f3f5")
    axes.set_title(f"{machine['cpu']}, {machine['cores']} cores, {machine['date']}", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)

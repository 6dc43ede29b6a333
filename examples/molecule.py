"""Relax a cluster of atoms, find how it vibrates, and let it move.

    python examples/molecule.py

Thirteen atoms attract and repel each other by the potential of Lennard and Jones. Forces are minus
its gradient; SciPy finds a position of rest with them. The Hessian there gives the frequencies and
the normal modes; a molecular dynamics run started along one of them swings with its frequency.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress, track
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from gradspec.func import grad, grad_and_value, hessian

OUTPUT = Path("demo-output")
ATOMS = 13
PAIRS = np.triu_indices(ATOMS, 1)
LOWEST = -44.326801
"""The energy of the icosahedron, the best cluster of 13 atoms that is known."""

STEP, STEPS = 0.004, 1500


def energy(positions: Any) -> Any:
    """Compute the energy of atoms at the positions (3 * ATOMS,)."""
    atoms = positions.reshape(ATOMS, 3)
    first, second = PAIRS
    squares = ((atoms[first] - atoms[second]) ** 2).sum(-1)
    inverse = squares**-3
    return 4 * (inverse**2 - inverse).sum()


def relax(console: Console) -> tuple[Any, float]:
    """Find the lowest of the positions of rest that some random starts lead to."""
    with_value = grad_and_value(energy)

    def value_and_gradient(positions: Any) -> tuple[Any, Any]:
        gradient, value = with_value(positions)
        return value, gradient

    random = np.random.default_rng(3)
    best, lowest = np.zeros(3 * ATOMS), np.inf
    with Progress(console=console) as progress:
        task = progress.add_task("relaxing", total=25)
        for _ in range(25):
            start = random.uniform(-1.3, 1.3, 3 * ATOMS)
            found = minimize(value_and_gradient, start, jac=True, method="L-BFGS-B")
            if found.fun < lowest:
                best, lowest = found.x, float(found.fun)
            progress.update(task, advance=1, description=f"relaxing: {lowest:.4f}")
    exact = minimize(
        value_and_gradient, best, jac=True, hess=hessian(energy), method="trust-exact", tol=1e-10
    )
    return exact.x, float(exact.fun)


def move(rest: Any, mode: Any, console: Console) -> tuple[Any, Any]:
    """Start along a mode, by velocity Verlet; return its coordinate and the energy over time."""
    slope = grad(energy)
    position, velocity = rest.copy(), 0.03 * mode
    force = -slope(position)
    along, total = [], []
    for _ in track(range(STEPS), "moving", console=console):
        velocity = velocity + STEP / 2 * force
        position = position + STEP * velocity
        force = -slope(position)
        velocity = velocity + STEP / 2 * force
        along.append((position - rest) @ mode)
        total.append(float(energy(position)) + (velocity @ velocity) / 2)
    return np.array(along), np.array(total)


def frequency_of(signal: Any) -> float:
    """Return the angular frequency of a swing, from where it crosses zero upwards."""
    up = np.flatnonzero((signal[:-1] < 0) & (signal[1:] >= 0))
    at = up - signal[up] / (signal[up + 1] - signal[up])
    return float(2 * np.pi * (len(at) - 1) / ((at[-1] - at[0]) * STEP))


def plot(rest: Any, frequencies: Any, mode: Any, along: Any, total: Any, path: Path) -> None:
    """Plot the cluster with a mode, all frequencies, the swing, and the error of the energy."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(15, 3.8), layout="constrained")
    axis: Any = figure.add_subplot(1, 4, 1, projection="3d")
    atoms, arrows = rest.reshape(ATOMS, 3), mode.reshape(ATOMS, 3)
    for i, j in zip(*PAIRS, strict=True):
        if np.linalg.norm(atoms[i] - atoms[j]) < 1.3:
            axis.plot(*zip(atoms[i], atoms[j], strict=True), color="#adb5bd", linewidth=1)
    axis.scatter(*atoms.T, s=90, color="#1971c2")
    axis.quiver(*atoms.T, *arrows.T, color="#e8590c", length=1.2)
    axis.set_axis_off()
    axis.set_title("At rest, and the stiffest mode")
    times = STEP * np.arange(len(along))
    panels: list[tuple[str, str, Any, Any]] = [
        ("Frequencies of all modes", "mode", None, frequencies),
        ("Along the mode", "time", times, along),
        ("Energy, less that at the start", "time", times, total - total[0]),
    ]
    for place, (title, label, x, values) in enumerate(panels, 2):
        panel = figure.add_subplot(1, 4, place)
        if x is None:
            panel.plot(values, "o", markersize=4)
        else:
            panel.plot(x[:700], values[:700])
        panel.set(title=title, xlabel=label)
        panel.grid(alpha=0.25)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def main() -> int:
    """Relax, analyse, move, draw; return 1 if the numbers do not agree."""
    console = Console()
    OUTPUT.mkdir(exist_ok=True)
    with threadpool_limits(1):
        rest, lowest = relax(console)
        squares, modes = np.linalg.eigh(hessian(energy)(rest))
        frequencies = np.sqrt(np.maximum(squares, 0))
        mode = modes[:, -1]
        along, total = move(rest, mode, console)
    swing = frequency_of(along)
    still = int((frequencies < 1e-2).sum())
    plot(rest, frequencies, mode, along, total, OUTPUT / "molecule.png")
    console.print(f"  written: {OUTPUT / 'molecule.png'}")
    error = abs(swing / frequencies[-1] - 1)
    console.print(
        f"[bold]energy {lowest:.4f}[/] ({LOWEST:.4f} is the lowest known); {still} modes cost "
        f"nothing; the stiffest swings at [bold]{swing:.2f}[/], by the Hessian at "
        f"{frequencies[-1]:.2f}"
    )
    return int(abs(lowest - LOWEST) > 1e-3 or still != 6 or error > 0.01)


if __name__ == "__main__":
    sys.exit(main())

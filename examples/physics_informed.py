"""Learn the swing of a damped spring from a few points and its differential equation.

    python examples/physics_informed.py

A network `u(t)` is fitted to `u'' + 2 d u' + w² u = 0` at many times, and to the values at six. The
damping `d` is not known: it is learned with the weights. The derivatives by `t` are tangents of
tangents (`jvp` of `jvp`), through which the backward pass goes to the weights.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from threadpoolctl import threadpool_limits

import gradspec as gs
from gradspec.func import jvp

OUTPUT = Path("demo-output")
STEPS = 60
ITERATIONS = 12
"""Those of L-BFGS in each step."""

MEASURED = (0.1, 0.4, 0.8, 1.3, 1.9, 2.6)
DAMPING, FREQUENCY, END = 0.4, 5.0, 3.0


def exact(t: Any) -> Any:
    """Compute the solution that begins at 1, at rest."""
    w = np.sqrt(FREQUENCY**2 - DAMPING**2)
    return np.exp(-DAMPING * t) * (np.cos(w * t) + DAMPING / w * np.sin(w * t))


def build() -> gs.nn.Module:
    """Build a small network of one number."""
    return gs.nn.Sequential(
        gs.nn.Linear(1, 32),
        gs.nn.Tanh(),
        gs.nn.Linear(32, 32),
        gs.nn.Tanh(),
        gs.nn.Linear(32, 1),
    )


def fit(console: Console) -> tuple[gs.nn.Module, Any, list[float], list[float]]:
    """Fit network and damping; return them, the losses, and the damping over the steps."""
    network = build()
    damping = gs.nn.Parameter(gs.tensor(0.1))
    times = gs.linspace(0, END, 60)[:, None]
    measured = gs.tensor(MEASURED)[:, None]
    values = gs.as_tensor(exact(measured.numpy()))

    def u(t: Any) -> Any:
        return network(4 * t / END - 2)

    def value_and_slope(t: Any) -> Any:
        return jvp(u, (t,), (gs.ones_like(t),))

    optimizer = gs.optim.LBFGS(
        [*network.parameters(), damping], max_iter=ITERATIONS, line_search_fn="strong_wolfe"
    )

    def loss() -> Any:
        (value, slope), (_, curvature) = jvp(value_and_slope, (times,), (gs.ones_like(times),))
        residual = (curvature + 2 * damping * slope + FREQUENCY**2 * value) / FREQUENCY**2
        start = (value[0] - 1) ** 2 + (slope[0] / FREQUENCY) ** 2
        return (residual**2).mean() + ((u(measured) - values) ** 2).mean() + start.sum()

    def closure() -> Any:
        optimizer.zero_grad()
        current = loss()
        current.backward()
        return current

    losses, dampings = [], []
    with Progress(console=console) as progress:
        task = progress.add_task("fitting", total=STEPS)
        for _ in range(STEPS):
            losses.append(float(optimizer.step(closure).detach()))
            dampings.append(float(damping.detach()))
            progress.update(task, advance=1, description=f"loss {losses[-1]:.1e}")
    return network, damping, losses, dampings


def plot(network: gs.nn.Module, losses: list[float], dampings: list[float], path: Path) -> float:
    """Plot the solution and the way there; return the largest error."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    times = np.linspace(0, END, 300)
    with gs.no_grad():
        found = network(gs.as_tensor(4 * times[:, None] / END - 2)).numpy()[:, 0]
    figure, axes = pyplot.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
    axes[0].plot(times, exact(times), color="#adb5bd", linewidth=5, label="exact")
    axes[0].plot(times, found, color="#1971c2", label="network")
    measured = np.array(MEASURED)
    axes[0].plot(measured, exact(measured), "o", color="#e8590c", label="given")
    axes[0].legend()
    axes[0].set(title="The swing", xlabel="time")
    axes[1].plot(losses)
    axes[1].set(title="Loss", xlabel="step", yscale="log")
    axes[2].plot(dampings)
    axes[2].axhline(DAMPING, color="#e8590c", linestyle=":")
    axes[2].set(title="Damping; dotted: true", xlabel="step")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return float(np.abs(found - exact(times)).max())


def main() -> int:
    """Fit and draw; return 1 if damping or solution are wrong."""
    console = Console()
    OUTPUT.mkdir(exist_ok=True)
    gs.manual_seed(0)
    gs.set_default_dtype(gs.float64)
    with threadpool_limits(1):
        network, damping, losses, dampings = fit(console)
    error = plot(network, losses, dampings, OUTPUT / "physics_informed.png")
    console.print(f"  written: {OUTPUT / 'physics_informed.png'}")
    console.print(
        f"[bold]damping {damping.item():.3f}[/] ({DAMPING} is true); the swing is off by at most "
        f"[bold]{error:.3f}[/]"
    )
    return int(abs(damping.item() - DAMPING) > 0.02 or error > 0.05)


if __name__ == "__main__":
    sys.exit(main())

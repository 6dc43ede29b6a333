"""Learn to learn: weights from which a sine wave is fitted in a few steps (MAML).

    python examples/maml_sinusoids.py

Each task is a wave of another height and phase, of which ten points are given. The inner steps are
`grad` of a loss, `vmap` takes 25 tasks at once, and `backward` goes through all of it to the
weights that the steps begin with (Finn et al., 2017).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from threadpoolctl import threadpool_limits

import gradspec as gs
from gradspec.func import functional_call, grad, vmap

OUTPUT = Path("demo-output")
STEPS, TASKS, POINTS, RATE = 600, 25, 10, 0.02
REQUIRED_ERROR = 0.6
"""Upper bound of the mean squared error after five steps; a wave of its own has one of 4.3."""

NETWORK = gs.nn.Sequential(
    gs.nn.Linear(1, 40), gs.nn.ReLU(), gs.nn.Linear(40, 40), gs.nn.ReLU(), gs.nn.Linear(40, 1)
)


def draw(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    """Draw tasks: points to learn from, and points to be judged by."""
    height = random.uniform(0.1, 5, (count, 1, 1))
    phase = random.uniform(0, np.pi, (count, 1, 1))
    x, test_x = (random.uniform(-5, 5, (count, POINTS, 1)) for _ in range(2))
    arrays = (x, height * np.sin(x - phase), test_x, height * np.sin(test_x - phase))
    return tuple(gs.tensor(array.astype(np.float32)) for array in arrays)


def error(parameters: Any, x: Any, y: Any) -> Any:
    """Compute the mean squared error of the network with some parameters."""
    return ((functional_call(NETWORK, parameters, (x,)) - y) ** 2).mean()


def adapted(parameters: Any, x: Any, y: Any, steps: int) -> Any:
    """Take steps of gradient descent."""
    slope = grad(error)
    for _ in range(steps):
        gradients = slope(parameters, x, y)
        parameters = {name: p - RATE * gradients[name] for name, p in parameters.items()}
    return parameters


def errors_after(steps: int) -> Callable[..., Any]:
    """Make a function of parameters and tasks: the error of each after some steps."""

    def of_task(parameters: Any, x: Any, y: Any, test_x: Any, test_y: Any) -> Any:
        return error(adapted(parameters, x, y, steps), test_x, test_y)

    return vmap(of_task, in_dims=(None, 0, 0, 0, 0))


def train(console: Console) -> tuple[dict[str, Any], list[float]]:
    """Train the first weights for two steps; return them, and the errors."""
    random = np.random.default_rng(0)
    parameters = {name: p.detach().requires_grad_() for name, p in NETWORK.named_parameters()}
    optimizer = gs.optim.Adam(parameters.values(), lr=3e-3)
    errors = errors_after(2)
    found = []
    with Progress(console=console) as progress:
        task = progress.add_task("training", total=STEPS)
        for _ in range(STEPS):
            loss = errors(parameters, *draw(random, TASKS)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
            recent = np.mean(found[-50:])
            progress.update(task, advance=1, description=f"error {recent:.2f}")
    return parameters, found


def plot(parameters: Any, found: list[float], after: list[float], path: Path) -> None:
    """Plot a new wave as it is fitted, the error by steps, and the errors of the training."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    points = np.linspace(-5, 5, 200, dtype=np.float32)
    x = gs.tensor([-4.0, -3.2, -2.1, -1.5, -0.4, 0.3, 1.1, 2.6, 3.4, 4.5])[:, None]
    y = 3 * gs.sin(x - 1.2)
    figure, axes = pyplot.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    axes[0].plot(points, 3 * np.sin(points - 1.2), color="#adb5bd", linewidth=4, label="wave")
    axes[0].plot(x[:, 0].numpy(), y[:, 0].numpy(), "o", color="#e8590c")
    for steps, style in ((0, ":"), (1, "--"), (5, "-")):
        weights = adapted(parameters, x, y, steps)
        with gs.no_grad():
            values = functional_call(NETWORK, weights, (gs.tensor(points)[:, None],))
        axes[0].plot(points, values[:, 0].numpy(), style, color="#1971c2", label=f"{steps} steps")
    axes[0].legend()
    axes[0].set(title="A new wave, from ten points")
    axes[1].plot(after, "o-")
    axes[1].set(title="Error by steps, on 300 new waves", xlabel="step", yscale="log")
    axes[2].plot(np.convolve(found, np.ones(20) / 20, "valid"))
    axes[2].set(title="Error after two steps, in training", xlabel="update", yscale="log")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def main() -> int:
    """Train, test on new waves, draw; return 1 if the error is larger than it should be."""
    console = Console()
    OUTPUT.mkdir(exist_ok=True)
    gs.manual_seed(0)
    for module in NETWORK:
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()
    with threadpool_limits(1):
        parameters, found = train(console)
        fixed = {name: p.detach() for name, p in parameters.items()}
        waves = draw(np.random.default_rng(1), 300)
        after = [float(errors_after(steps)(fixed, *waves).mean()) for steps in range(6)]
    plot(fixed, found, after, OUTPUT / "maml_sinusoids.png")
    console.print(f"  written: {OUTPUT / 'maml_sinusoids.png'}")
    console.print(
        f"error on new waves: {after[0]:.2f} before, {after[1]:.2f} after one step, "
        f"[bold]{after[5]:.2f}[/] after five"
    )
    return int(after[5] > REQUIRED_ERROR)


if __name__ == "__main__":
    sys.exit(main())

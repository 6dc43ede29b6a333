"""Train a classifier on handwritten digits, and draw its learning curve and its backward graph.

    python examples/digits.py

The data set is scikit-learn's bundled one: 1,797 images of 8 × 8 pixels. A quarter is held out.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

import gradspec as gs

OUTPUT = Path("demo-output")
EPOCHS = 60
BATCH = 64
NOISE = 0.5
REQUIRED_ACCURACY = 0.97


@dataclass(frozen=True)
class Data:
    """Standardised images, one a row, and the digits they show."""

    train_x: gs.Tensor
    train_y: gs.Tensor
    test_x: gs.Tensor
    test_y: gs.Tensor


@dataclass(frozen=True)
class Scores:
    """Loss and accuracy of the model on one part of the data."""

    loss: float
    accuracy: float


def load() -> Data:
    """Load images: three quarters for training, one for testing, digits in equal proportions."""
    digits: Any = load_digits()
    train_x, test_x, train_y, test_y = train_test_split(
        digits.data, digits.target, test_size=0.25, stratify=digits.target, random_state=0
    )
    mean, spread = train_x.mean(), train_x.std()
    train_x, test_x = (((x - mean) / spread).astype(np.float32) for x in (train_x, test_x))
    return Data(*map(gs.from_numpy, (train_x, train_y, test_x, test_y)))


def build() -> gs.nn.Module:
    """Build a model of one hidden layer, with a score for each of the ten digits."""
    return gs.nn.Sequential(gs.nn.Linear(64, 256), gs.nn.ReLU(), gs.nn.Linear(256, 10))


def train(model: gs.nn.Module, data: Data, epochs: int) -> Iterator[tuple[Scores, Scores]]:
    """Train, and yield after every epoch the scores in training and on the test part."""
    optimizer = gs.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(epochs):
        order = gs.randperm(len(data.train_y))
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            x = data.train_x[rows]
            x = x + NOISE * gs.randn_like(
                x
            )  # never the same image twice: keeps it from overfitting
            loss = gs.nn.functional.cross_entropy(model(x), data.train_y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        yield score(model, data.train_x, data.train_y), score(model, data.test_x, data.test_y)


def score(model: gs.nn.Module, x: gs.Tensor, y: gs.Tensor) -> Scores:
    """Compute loss and accuracy, without recording a graph."""
    with gs.no_grad():
        logits = model(x)
        loss = gs.nn.functional.cross_entropy(logits, y)
    return Scores(float(loss), float((logits.numpy().argmax(axis=1) == y.numpy()).mean()))


def train_with_progress(model: gs.nn.Module, data: Data, console: Console) -> list[Any]:
    """Train, under a progress bar."""
    columns = (
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[scores]}"),
        TimeElapsedColumn(),
    )
    history = []
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=EPOCHS, scores="")
        for epoch in train(model, data, EPOCHS):
            history.append(epoch)
            on_train, on_test = epoch
            scores = f"loss {on_train.loss:.3f}  test accuracy {on_test.accuracy:.1%}"
            progress.update(task, advance=1, scores=scores)
    return history


def plot(history: list[tuple[Scores, Scores]], path: Path) -> None:
    """Plot loss and accuracy over the epochs, in training and on the held-out images."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import PercentFormatter

    epochs = range(1, len(history) + 1)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for part, name, color in ((0, "train", "#1971c2"), (1, "test", "#e8590c")):
        scores = [epoch[part] for epoch in history]
        left.plot(epochs, [s.loss for s in scores], label=name, color=color)
        right.plot(epochs, [s.accuracy for s in scores], label=name, color=color)
    final = history[-1][1].accuracy
    left.set(title="Cross-entropy", xlabel="epoch", ylabel="loss (log scale)", yscale="log")
    right.set(title=f"Accuracy: {final:.1%} on held-out digits", xlabel="epoch", ylim=(0.85, 1.003))
    right.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
        axes.legend(frameon=False)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def draw_graph(model: gs.nn.Module, data: Data) -> list[Path]:
    """Draw the backward graph of the loss, as DOT and as pictures."""
    loss = gs.nn.functional.cross_entropy(model(data.test_x), data.test_y)
    graph = gs.viz.make_dot(loss, params={"loss": loss} | dict(model.named_parameters()))
    return [graph.save(OUTPUT / "graph.dot"), graph.render(OUTPUT / "graph.svg")]


def main() -> int:
    """Train, test, draw; return 1 if the model is worse than it should be."""
    console = Console()
    started = time.perf_counter()
    gs.manual_seed(0)
    data = load()
    model = build()
    console.print(
        f"[bold]Handwritten digits[/]: {len(data.train_y)} images to learn from, "
        f"{len(data.test_y)} held out"
    )
    console.print(model)
    with threadpool_limits(1):  # for matrices this small, threads would wait for each other
        history = train_with_progress(model, data, console)
    accuracy = history[-1][1].accuracy
    seconds = time.perf_counter() - started
    console.print(
        f"[bold]{accuracy:.1%}[/] of the held-out digits are read right ({seconds:.1f} s)"
    )
    OUTPUT.mkdir(exist_ok=True)
    plot(history, OUTPUT / "loss.png")
    for path in (OUTPUT / "loss.png", *draw_graph(model, data)):
        console.print(f"  written: {path}")
    if accuracy < REQUIRED_ACCURACY:
        console.print(f"[red]less than {REQUIRED_ACCURACY:.0%}: something is wrong[/]")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

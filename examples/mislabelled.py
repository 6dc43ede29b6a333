"""Find digits with wrong labels by the gradients of single images.

    python examples/mislabelled.py

One label in twenty is made wrong. A network learns from all; then `vmap(grad(loss))` computes the
gradient of each image on its own. Those that pull the weights hardest are mostly the wrong ones.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

import gradspec as gs
from gradspec.func import functional_call, grad, vmap

OUTPUT = Path("demo-output")
EPOCHS = 40
WRONG = 90
REQUIRED_SHARE = 0.8


def load() -> tuple[Any, Any, Any]:
    """Load images and labels, and which of these are wrong."""
    digits: Any = load_digits()
    random = np.random.default_rng(0)
    labels = digits.target.copy()
    wrong = random.choice(len(labels), WRONG, replace=False)
    labels[wrong] = (labels[wrong] + random.integers(1, 10, WRONG)) % 10
    return (
        digits.images[:, None].astype(np.float32) / 16,
        labels,
        np.isin(range(len(labels)), wrong),
    )


def build() -> gs.nn.Module:
    """Build a convolution and a linear layer."""
    return gs.nn.Sequential(
        gs.nn.Conv2d(1, 12, 3), gs.nn.ReLU(), gs.nn.Flatten(), gs.nn.Linear(12 * 36, 10)
    )


def train(model: gs.nn.Module, images: Any, labels: Any, progress: Progress) -> None:
    """Train on all labels, the wrong ones too."""
    loader = gs.utils.data.DataLoader(
        gs.utils.data.TensorDataset(gs.tensor(images), gs.tensor(labels)), 128, shuffle=True
    )
    optimizer = gs.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.1)
    task = progress.add_task("training", total=EPOCHS)
    for _ in range(EPOCHS):
        for x, y in loader:
            loss = gs.nn.functional.cross_entropy(model(x), y, label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        progress.update(task, advance=1, description=f"training: loss {loss.item():.2f}")


def norms_of_gradients(model: gs.nn.Module, images: Any, labels: Any, progress: Progress) -> Any:
    """Compute the norm of each image's gradient, 300 images at a time."""
    parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}

    def loss(parameters: Any, image: Any, label: Any) -> Any:
        logits = functional_call(model, parameters, (image[None],))
        return gs.nn.functional.cross_entropy(logits, label[None])

    of_each = vmap(grad(loss), in_dims=(None, 0, 0))
    task = progress.add_task("gradients", total=len(images))
    found = []
    for x, y in zip(gs.tensor(images).split(300), gs.tensor(labels).split(300), strict=True):
        gradients = of_each(parameters, x, y)
        squares = gs.stack([(g**2).flatten(1).sum(1) for g in gradients.values()])
        found.append(squares.sum(0).sqrt().numpy())
        progress.update(task, advance=len(x))
    return np.concatenate(found)


def plot(images: Any, labels: Any, norms: Any, is_wrong: Any, path: Path) -> None:
    """Show the images with the largest gradients, and the norms of right and wrong labels."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(12, 4.4), layout="constrained")
    parts: Any = figure.subfigures(1, 2, width_ratios=(3, 2))
    left, right = parts
    cells = left.subplots(3, 8)
    for axis, nr in zip(cells.flat, np.argsort(-norms), strict=False):
        axis.imshow(images[nr, 0], cmap="gray_r")
        color = "#e03131" if is_wrong[nr] else "#2f9e44"
        axis.set_title(f"“{labels[nr]}”", color=color)
        axis.set(xticks=[], yticks=[])
    left.suptitle("Largest gradients; the label in red is wrong")
    axis = right.subplots()
    bins = np.linspace(0, norms.max(), 40)
    axis.hist(norms[~is_wrong], bins, label="right", color="#2f9e44", alpha=0.6)
    axis.hist(norms[is_wrong], bins, label="wrong", color="#e03131", alpha=0.6)
    axis.set(yscale="log", xlabel="norm of the gradient", ylabel="images")
    axis.legend()
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def main() -> int:
    """Train, rank, draw; return 1 if fewer wrong labels are found than should be."""
    console = Console()
    OUTPUT.mkdir(exist_ok=True)
    gs.manual_seed(0)
    images, labels, is_wrong = load()
    model = build()
    with threadpool_limits(1), Progress(console=console) as progress:
        train(model, images, labels, progress)
        started = time.perf_counter()
        norms = norms_of_gradients(model, images, labels, progress)
        seconds = time.perf_counter() - started
    plot(images, labels, norms, is_wrong, OUTPUT / "mislabelled.png")
    console.print(f"  written: {OUTPUT / 'mislabelled.png'}")
    share = is_wrong[np.argsort(-norms)[:WRONG]].mean()
    console.print(
        f"[bold]{share:.0%}[/] of the {WRONG} images with the largest gradients have wrong labels "
        f"({len(images)} gradients in {seconds:.2f} s)"
    )
    return int(share < REQUIRED_SHARE)


if __name__ == "__main__":
    sys.exit(main())

"""Train a convolutional network with everything that a training program has, and stop it midway.

    python examples/digits_cnn.py

The digits of scikit-learn come in batches from a `DataLoader`; the learning rate follows one cycle,
gradients are clipped, an average of the weights is kept. Half way everything is saved and thrown
away; the second half resumes from the file. A picture shows the curves.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

import gradspec as gs
from gradspec import nn
from gradspec.optim.lr_scheduler import OneCycleLR
from gradspec.optim.swa_utils import AveragedModel, get_ema_avg_fn, update_bn
from gradspec.utils.data import DataLoader, TensorDataset

OUTPUT = Path("demo-output")
EPOCHS = 12
BATCH = 64
MAX_NORM = 1.0
REQUIRED_ACCURACY = 0.98


def load() -> tuple[TensorDataset, TensorDataset]:
    """Load 8 × 8 images: three quarters for training, one for testing."""
    digits: Any = load_digits()
    parts = train_test_split(
        digits.images[:, None],
        digits.target,
        test_size=0.25,
        stratify=digits.target,
        random_state=0,
    )
    train_x, test_x, train_y, test_y = parts
    mean, spread = train_x.mean(), train_x.std()
    train_x, test_x = (((x - mean) / spread).astype(np.float32) for x in (train_x, test_x))
    train, test = ((train_x, train_y), (test_x, test_y))
    return TensorDataset(*map(gs.tensor, train)), TensorDataset(*map(gs.tensor, test))


def build() -> nn.Module:
    """Build two convolutions, the first with batch normalisation, and a linear layer."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(32 * 2 * 2, 10),
    )


@dataclass
class Curves:
    """Data of the plots: loss, learning rate and norm of gradients per step; accuracy per epoch."""

    loss: list[float] = field(default_factory=list)
    rate: list[float] = field(default_factory=list)
    norm: list[float] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)


class Training:
    """A model with all that its training needs; it can be saved and resumed after any epoch."""

    def __init__(self, train: TensorDataset, test: TensorDataset) -> None:
        self.model = build()
        self.averaged = AveragedModel(self.model, avg_fn=get_ema_avg_fn(0.98))
        self.loader = DataLoader(train, BATCH, shuffle=True, drop_last=True)
        self.test = DataLoader(test, 256)
        self.optimizer = gs.optim.AdamW(self.model.parameters(), weight_decay=0.01)
        self.scheduler = OneCycleLR(
            self.optimizer, max_lr=0.01, epochs=EPOCHS, steps_per_epoch=len(self.loader)
        )
        self.parts: dict[str, Any] = {
            "model": self.model,
            "averaged": self.averaged,
            "optimizer": self.optimizer,
            "scheduler": self.scheduler,
        }
        self.curves = Curves()

    def epoch(self) -> None:
        """Train on every batch once; then test the averaged weights."""
        self.model.train()
        for x, y in self.loader:
            loss = nn.functional.cross_entropy(self.model(x), y, label_smoothing=0.05)
            self.optimizer.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(self.model.parameters(), MAX_NORM)
            self.optimizer.step()
            self.scheduler.step()
            self.averaged.update_parameters(self.model)
            self.curves.loss.append(float(loss.detach()))
            self.curves.norm.append(float(norm))
            self.curves.rate.append(self.scheduler.get_last_lr()[0])
        update_bn(self.loader, self.averaged)
        self.curves.accuracy.append(self.accuracy())

    def accuracy(self) -> float:
        """Compute the part of the test images that the averaged model reads right."""
        self.averaged.eval()
        with gs.no_grad():
            right = [(self.averaged(x).argmax(1) == y).sum().item() for x, y in self.test]
        return float(sum(right)) / len(self.test.dataset)

    def save(self, path: Path) -> None:
        """Save everything; a kill leaves the file of before, or this one."""
        states = {name: part.state_dict() for name, part in self.parts.items()}
        gs.save({**states, "curves": vars(self.curves)}, path)

    def resume(self, path: Path) -> None:
        """Go on where a training was saved."""
        saved = gs.load(path)
        for name, part in self.parts.items():
            part.load_state_dict(saved[name])
        self.curves = Curves(**saved["curves"])


def run(train: TensorDataset, test: TensorDataset, checkpoint: Path, console: Console) -> Training:
    """Train half, save; make everything anew, load, and train the other half."""
    columns = (
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[scores]}"),
        TimeElapsedColumn(),
    )
    training = Training(train, test)
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=EPOCHS, scores="")
        for epoch in range(EPOCHS):
            if epoch == EPOCHS // 2:
                training.save(checkpoint)
                training = Training(train, test)
                training.resume(checkpoint)
            training.epoch()
            curves = training.curves
            scores = f"loss {curves.loss[-1]:.3f}  test accuracy {curves.accuracy[-1]:.1%}"
            progress.update(task, advance=1, scores=scores)
    training.save(checkpoint)
    return training


def plot(curves: Curves, path: Path) -> None:
    """Plot loss, gradient norm and learning rate over the steps, accuracy over the epochs."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 4, figsize=(15, 3.4), layout="constrained")
    middle = len(curves.loss) / 2
    for axis, name in zip(axes, ("loss", "norm", "rate", "accuracy"), strict=True):
        values = getattr(curves, name)
        axis.plot(np.arange(1, len(values) + 1), values, color="#1971c2")
        axis.axvline(middle * len(values) / len(curves.loss), color="#e8590c", linestyle=":")
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
    axes[0].set(title="Loss", xlabel="step", yscale="log")
    axes[1].set(title="Norm of the gradients, before clipping", xlabel="step", yscale="log")
    axes[2].set(title="Learning rate", xlabel="step")
    axes[3].set(title=f"Accuracy: {curves.accuracy[-1]:.1%}; dotted: resumed", xlabel="epoch")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def main() -> int:
    """Train, save, resume, draw; return 1 if the model is worse than it should be."""
    console = Console()
    started = time.perf_counter()
    gs.manual_seed(0)
    train, test = load()
    OUTPUT.mkdir(exist_ok=True)
    with threadpool_limits(1):  # for arrays this small, threads would wait for each other
        training = run(train, test, OUTPUT / "digits_cnn.gs", console)
    plot(training.curves, OUTPUT / "digits_cnn.png")
    for name in ("digits_cnn.gs", "digits_cnn.png"):
        console.print(f"  written: {OUTPUT / name}")
    accuracy = training.curves.accuracy[-1]
    if accuracy < REQUIRED_ACCURACY:
        console.print(f"[red]less than {REQUIRED_ACCURACY:.0%}: something is wrong[/]")
    seconds = time.perf_counter() - started
    console.print(
        f"[bold]{accuracy:.1%}[/] of the held-out digits are read right ({seconds:.1f} s)"
    )
    return int(accuracy < REQUIRED_ACCURACY)


if __name__ == "__main__":
    sys.exit(main())

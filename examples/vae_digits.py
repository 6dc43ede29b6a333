"""Learn to draw digits: a variational autoencoder with two latent numbers.

    python examples/vae_digits.py

The encoder gives a normal distribution for each image, from which `rsample` draws with gradients;
the decoder gives the probability of each pixel. `distributions` has the likelihood and the
divergence. The picture shows what the decoder makes of a grid of latent numbers.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

import gradspec as gs
from gradspec import nn
from gradspec.distributions import Bernoulli, Independent, Normal, kl_divergence

OUTPUT = Path("demo-output")
EPOCHS = 60
REQUIRED_BOUND = 24.0
"""The most nats that an image of the test set may cost."""


class Autoencoder(nn.Module):
    """Encoder and decoder of images of 64 pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(64, 128), nn.SiLU(), nn.Linear(128, 64), nn.SiLU(), nn.Linear(64, 4)
        )
        self.decoder = nn.Sequential(
            nn.Linear(2, 64), nn.SiLU(), nn.Linear(64, 128), nn.SiLU(), nn.Linear(128, 64)
        )
        self.register_buffer("zeros", gs.zeros(2))
        self.register_buffer("ones", gs.ones(2))

    def encode(self, images: Any) -> Any:
        """Return the distribution of the latent numbers of each image."""
        mean, log_scale = self.encoder(images).chunk(2, dim=-1)
        return Independent(Normal(mean, log_scale.exp()), 1)

    def decode(self, latent: Any) -> Any:
        """Return the distribution of the pixels."""
        return Independent(Bernoulli(logits=self.decoder(latent), validate_args=False), 1)

    def forward(self, images: Any) -> Any:
        """Compute the cost of each image: minus the bound of its log-probability, in nats."""
        latent = self.encode(images)
        prior = Independent(Normal(self.zeros, self.ones), 1)
        likelihood = self.decode(latent.rsample()).log_prob(images)
        return kl_divergence(latent, prior) - likelihood


def train(images: Any, test: Any, console: Console) -> tuple[Autoencoder, list[float], list[float]]:
    """Train; return the model, and the costs of training and test images by epoch."""
    model = Autoencoder()
    loader = gs.utils.data.DataLoader(images, 64, shuffle=True)
    optimizer = gs.optim.Adam(model.parameters(), lr=2e-3)
    scheduler = gs.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS, eta_min=1e-4)
    costs: tuple[list[float], list[float]] = ([], [])
    with Progress(console=console) as progress:
        task = progress.add_task("training", total=EPOCHS)
        for _ in range(EPOCHS):
            sums = 0.0
            for x in loader:
                loss = model(x).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                sums += loss.item() * len(x)
            scheduler.step()
            costs[0].append(sums / len(images))
            with gs.no_grad():
                costs[1].append(model(test).mean().item())
            progress.update(task, advance=1, description=f"{costs[1][-1]:.2f} nats an image")
    return model, *costs


def plot(model: Autoencoder, test: Any, labels: Any, costs: Any, path: Path) -> None:
    """Show the decoder on a grid, the latent numbers of the test images, and the costs."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    count = 11
    side = np.linspace(-2, 2, count)
    grid = np.stack(np.meshgrid(side, -side), -1).reshape(-1, 2).astype(np.float32)
    with gs.no_grad():
        pixels = model.decode(gs.tensor(grid)).mean.numpy().reshape(count, count, 8, 8)
        latent = model.encode(test).mean.numpy()
    figure, axes = pyplot.subplots(1, 3, figsize=(14, 4.6), layout="constrained")
    framed = np.pad(pixels, ((0, 0), (0, 0), (1, 1), (2, 2)))
    shown = framed.transpose(0, 2, 1, 3).reshape(10 * count, 12 * count)
    axes[0].imshow(shown, cmap="gray_r", aspect="auto")
    axes[0].set(title="Drawn from a grid of latent numbers", xticks=[], yticks=[])
    points = axes[1].scatter(*latent.T, c=labels, cmap="tab10", s=12)
    figure.colorbar(points, ax=axes[1], ticks=range(10))
    axes[1].set(title="Latent numbers of images that were held out")
    for values, name in zip(costs, ("training", "held out"), strict=True):
        axes[2].plot(range(1, EPOCHS + 1), values, label=name)
    axes[2].legend()
    axes[2].set(title="Cost of an image, in nats", xlabel="epoch")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def main() -> int:
    """Train and draw; return 1 if images cost more than they should."""
    console = Console()
    OUTPUT.mkdir(exist_ok=True)
    gs.manual_seed(0)
    digits: Any = load_digits()
    binary = (digits.data > 7).astype(np.float32)
    parts = train_test_split(binary, digits.target, test_size=0.2, random_state=0)
    train_x, test_x, _, test_y = parts
    test = gs.tensor(test_x)
    with threadpool_limits(1):
        model, *costs = train(gs.tensor(train_x), test, console)
    plot(model, test, test_y, costs, OUTPUT / "vae_digits.png")
    console.print(f"  written: {OUTPUT / 'vae_digits.png'}")
    bound = float(np.mean(costs[1][-5:]))
    console.print(f"an image that was held out costs [bold]{bound:.2f}[/] nats, of 44.36 for noise")
    return int(bound > REQUIRED_BOUND)


if __name__ == "__main__":
    sys.exit(main())

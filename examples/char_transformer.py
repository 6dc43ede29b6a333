"""Train a small transformer on the documentation of Python, letter by letter.

    python examples/char_transformer.py

The text is that of `pydoc_data`, which comes with Python. Two layers of causal attention predict
the next letter; a tenth of the text is held out. The picture shows the curves, and what a head of
attention looks at.
"""

from __future__ import annotations

import sys
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from threadpoolctl import threadpool_limits

import gradspec as gs
from gradspec import nn

OUTPUT = Path("demo-output")
STEPS, BATCH, CONTEXT, WIDTH, HEADS, LAYERS = 400, 16, 48, 48, 4, 2
REQUIRED_BITS = 3.2
"""The most bits that a letter of the held-out text may take."""


def load() -> tuple[list[str], Any, Any]:
    """Return the letters of the text, and its first nine tenths and last tenth as numbers."""
    text = "\n".join(topics[name] for name in ("assignment", "class", "function", "for", "try"))
    text = "".join(letter for letter in text if letter.isascii()).lower()
    letters = sorted(set(text))
    numbers = gs.tensor([letters.index(letter) for letter in text])
    split = len(text) * 9 // 10
    return letters, numbers[:split], numbers[split:]


class Block(nn.Module):
    """Causal attention, and a network for each letter."""

    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.network = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def heads(self, x: Any) -> tuple[Any, Any, Any]:
        """Return queries, keys and values, each (batch, heads, letters, width of a head)."""
        split = self.qkv(self.norms[0](x)).unflatten(-1, (3, HEADS, WIDTH // HEADS))
        q, k, v = split.permute(2, 0, 3, 1, 4).unbind(0)
        return q, k, v

    def forward(self, x: Any) -> Any:
        """Add what the attention and the network find to (batch, letters, width)."""
        found = nn.functional.scaled_dot_product_attention(*self.heads(x), is_causal=True)
        x = x + self.out(found.transpose(1, 2).flatten(2))
        return x + self.network(self.norms[1](x))


class Transformer(nn.Module):
    """Logits of the next letter at every place."""

    def __init__(self, letters: int) -> None:
        super().__init__()
        self.letter, self.place = nn.Embedding(letters, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, letters))
        for parameter in (self.letter.weight, self.place.weight):
            nn.init.normal_(parameter, std=0.1)

    def embed(self, numbers: Any) -> Any:
        """Return vectors of letters and places."""
        return self.letter(numbers) + self.place(gs.arange(numbers.shape[1]))

    def forward(self, numbers: Any) -> Any:
        """Map (batch, letters) to (batch, letters, number of letters)."""
        return self.head(self.blocks(self.embed(numbers)))

    @gs.no_grad()
    def write(self, start: Any, count: int) -> Any:
        """Go on with a text, by drawing letters."""
        for _ in range(count):
            logits = self(start[:, -CONTEXT:])[:, -1] / 0.7
            start = gs.cat([start, gs.multinomial(logits.softmax(-1), 1)], 1)
        return start


def batch(numbers: Any, random: np.random.Generator, size: int) -> tuple[Any, Any]:
    """Cut pieces of the text at random places, and the same one letter further on."""
    starts = random.integers(0, len(numbers) - CONTEXT - 1, size)
    pieces = numbers[gs.tensor(starts)[:, None] + gs.arange(CONTEXT + 1)]
    return pieces[:, :-1], pieces[:, 1:]


def bits(model: Transformer, pair: tuple[Any, Any]) -> Any:
    """Compute the cross entropy of the next letters, in bits."""
    logits = model(pair[0])
    return nn.functional.cross_entropy(logits.flatten(0, 1), pair[1].flatten()) / np.log(2)


def train(train_text: Any, test_text: Any, model: Transformer, console: Console) -> Any:
    """Train; return the bits of a letter by step, and on the held-out text."""
    random = np.random.default_rng(0)
    optimizer = gs.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.05)
    scheduler = gs.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=STEPS)
    held_out = batch(test_text, np.random.default_rng(1), 64)
    found: list[float] = []
    tested: list[tuple[int, float]] = []
    with Progress(console=console) as progress:
        task = progress.add_task("training", total=STEPS)
        for step in range(1, STEPS + 1):
            loss = bits(model, batch(train_text, random, BATCH))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            found.append(loss.item())
            if step % 50 == 0:
                with gs.no_grad():
                    tested.append((step, bits(model, held_out).item()))
            progress.update(task, advance=1, description=f"{found[-1]:.2f} bits a letter")
    return found, tested


def plot(model: Transformer, letters: list[str], curves: Any, text: Any, path: Path) -> None:
    """Plot the curves, and the attention of a head on a piece of text."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    piece = text[None, :32]
    with gs.no_grad():
        q, k, _ = model.blocks[0].heads(model.embed(piece))
        scores = (q @ k.mT / (WIDTH // HEADS) ** 0.5)[0]
        hidden = gs.ones(32, 32).triu(1).bool()
        attention = scores.masked_fill(hidden, -gs.inf).softmax(-1).numpy()
    found, tested = curves
    figure, axes = pyplot.subplots(1, 3, figsize=(15, 4.6), layout="constrained")
    axes[0].plot(range(1, STEPS + 1), found, linewidth=0.8, label="training")
    axes[0].plot(*zip(*tested, strict=True), "o-", label="held out")
    axes[0].legend()
    axes[0].set(title="Bits a letter", xlabel="step")
    shown = [letters[number].replace("\n", "¶") for number in piece[0].tolist()]
    for axis, head in zip(axes[1:], (0, 1), strict=True):
        axis.imshow(attention[head], cmap="Blues")
        axis.set_xticks(range(32), shown, fontsize=7)
        axis.set_yticks(range(32), shown, fontsize=7)
        axis.set(title=f"Where head {head + 1} looks (row: from)")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def main() -> int:
    """Train, write a little, draw; return 1 if letters take more bits than they should."""
    console = Console()
    OUTPUT.mkdir(exist_ok=True)
    gs.manual_seed(0)
    letters, train_text, test_text = load()
    model = Transformer(len(letters))
    with threadpool_limits(1):
        curves = train(train_text, test_text, model, console)
        written = model.write(train_text[None, :CONTEXT], 160)[0, CONTEXT:].tolist()
    plot(model, letters, curves, test_text, OUTPUT / "char_transformer.png")
    console.print(f"  written: {OUTPUT / 'char_transformer.png'}")
    console.print("".join(letters[number] for number in written), style="dim", markup=False)
    final = curves[1][-1][1]
    console.print(
        f"[bold]{final:.2f}[/] bits a letter of held-out text, of {np.log2(len(letters)):.2f} "
        "without learning"
    )
    return int(final > REQUIRED_BITS)


if __name__ == "__main__":
    sys.exit(main())

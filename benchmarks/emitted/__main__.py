"""Measure time and what is kept for the backward pass, in turns, on one thread, in float32."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import click
import torch
from torch import Tensor

from .cases import Case, Op, cases
from .package import imported

SIZES = (4, 10**4, 10**5, 10**6)


@click.command()
@click.argument("names", nargs=-1)
@click.option("--turns", default=200, show_default=True, help="Turns at 4 elements; less at more.")
def main(names: tuple[str, ...], turns: int) -> None:
    """Print for each op the ratio of the emitted function to the Function by hand.

    The first figure is of time, forward and backward: the lower quartile of a thread's own time,
    which other programs disturb least. The second is of the bytes kept, each storage once.
    """
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        found = [case for case in cases(imported(Path(folder))) if not names or case.name in names]
    click.echo(f"{'':14}" + "".join(f"{size:>16,}" for size in SIZES))
    for case in found:
        click.echo(f"{case.name:14}", nl=False)
        for size in SIZES:
            inputs = case.inputs(size)
            _check(case, inputs)
            emitted, by_hand = _times(case, inputs, max(15, turns // max(1, size // 10**4)))
            kept = [_kept(op, inputs) for op in (case.emitted, case.by_hand)]
            click.echo(f"{emitted / by_hand:>10.2f}{kept[0] / kept[1]:>6.2f}", nl=False)
        click.echo("")


def _check(case: Case, inputs: tuple[Tensor, ...]) -> None:
    """Results and gradients are the same, as far as float32 goes."""
    found = []
    for op in (case.emitted, case.by_hand):
        result = op(*inputs)
        leaves = [each for each in inputs if each.requires_grad]
        found.append((result, *torch.autograd.grad(result, leaves, torch.ones_like(result))))
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-4)


def _times(case: Case, inputs: tuple[Tensor, ...], turns: int) -> list[float]:
    result = case.by_hand(*inputs)
    grad = torch.ones_like(result)
    leaves = [each for each in inputs if each.requires_grad]
    rounds = max(1, min(20, 10**5 // leaves[0].numel()))
    taken: list[list[int]] = [[], []]
    for _ in range(turns):
        for number, op in enumerate((case.emitted, case.by_hand)):
            started = time.thread_time_ns()
            for _ in range(rounds):
                torch.autograd.grad(op(*inputs), leaves, grad)
            taken[number].append(time.thread_time_ns() - started)
    return [sorted(each)[turns // 4] for each in taken]


def _kept(op: Op, inputs: tuple[Tensor, ...]) -> int:
    """The bytes that the graph keeps, each storage counted once."""
    kept: dict[int, int] = {}
    held = []  # so that no address is used twice

    def note(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        held.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        op(*inputs)
    return sum(kept.values())


if __name__ == "__main__":
    main()

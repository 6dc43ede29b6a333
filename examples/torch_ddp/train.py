"""Train a network on generated ops in two processes: DDP over gloo, the model compiled whole.

    python train.py [--backend inductor]

The norm and the gated activation are those of ../framework_ops, generated for PyTorch. The same
network on PyTorch's own functions starts from the same weights; gradients, losses, time and memory
are compared.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "framework_ops"))

import torch_ops

PROCESSES = 2
STEPS = 12
WIDTH = 32
BATCH = 256


def own_norm(x: Tensor, weight: Tensor) -> Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight


def own_swiglu(x: Tensor, gate: Tensor) -> Tensor:
    return x * functional.silu(gate)


class Block(nn.Module):
    """A norm and a gated layer, beside which the input is carried on."""

    def __init__(self, norm: Callable[..., Tensor], gated: Callable[..., Tensor]) -> None:
        super().__init__()
        self.norm, self.gated = norm, gated
        self.weight = nn.Parameter(torch.ones(WIDTH))
        self.widen = nn.Linear(WIDTH, 4 * WIDTH)
        self.narrow = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Answer [n, WIDTH] for [n, WIDTH]."""
        value, gate = self.widen(self.norm(x, self.weight)).chunk(2, -1)
        return x + self.narrow(self.gated(value, gate))


def network(*, generated: bool) -> nn.Module:
    """Two blocks and a last layer, always with the same weights."""
    torch.manual_seed(0)
    ops = (torch_ops.scaled_rms_norm, torch_ops.swiglu) if generated else (own_norm, own_swiglu)
    return nn.Sequential(Block(*ops), Block(*ops), nn.Linear(WIDTH, 1))


def examples(rank: int) -> tuple[Tensor, Tensor]:
    """The part of the data that one process sees: [BATCH, WIDTH] and [BATCH, 1]."""
    generator = torch.Generator().manual_seed(100 + rank)
    x = torch.randn(BATCH, WIDTH, generator=generator)
    return x, x[:, :1] * x[:, 1:2] + 0.5 * x[:, 2:3]


def train(rank: int, backend: str, *, generated: bool) -> tuple[list[Tensor], list[float]]:
    """The gradients of the first step, which DDP has averaged, and the loss of every step."""
    torch._dynamo.reset()
    compiled = torch.compile(network(generated=generated), fullgraph=True, backend=backend)
    model = DistributedDataParallel(compiled)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    x, y = examples(rank)
    losses, first = [], []
    for step in range(STEPS):
        loss = functional.mse_loss(model(x), y)
        loss.backward()
        if step == 0:
            first = [p.grad.clone() for p in model.parameters() if p.grad is not None]
        optimizer.step()
        optimizer.zero_grad()
        total = loss.detach()
        dist.all_reduce(total)
        losses.append(total.item() / PROCESSES)
    return first, losses


def saved_bytes(model: nn.Module, x: Tensor) -> int:
    """The bytes that the graph keeps for the backward pass, besides parameters."""
    kept: dict[int, int] = {}
    held: list[Tensor] = []  # so that no address is used twice
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}

    def note(tensor: Tensor) -> Tensor:
        place = tensor.untyped_storage().data_ptr()
        if place not in own:
            kept[place] = tensor.untyped_storage().nbytes()
            held.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        model(x)
    return sum(kept.values())


def step_times(models: list[nn.Module], x: Tensor, turns: int = 40) -> list[float]:
    """The shortest time of a forward and a backward pass of each model, called in turns."""
    best = [float("inf")] * len(models)
    for _ in range(turns):
        for number, model in enumerate(models):
            started = time.perf_counter()
            model(x).sum().backward()
            best[number] = min(best[number], time.perf_counter() - started)
    return best


def work(rank: int, meeting_place: str, backend: str) -> None:
    """Run one process; the first one reports."""
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{meeting_place}", rank=rank, world_size=PROCESSES
    )
    ours, losses = train(rank, backend, generated=True)
    theirs, own_losses = train(rank, backend, generated=False)
    if rank == 0:
        error = max(
            float((a - b).abs().max() / b.abs().max()) for a, b in zip(ours, theirs, strict=True)
        )
        print(
            f"loss of {PROCESSES} processes: {losses[0]:.4f}, after {STEPS} steps {losses[-1]:.4f}"
        )
        print(f"on PyTorch's own functions:  {own_losses[0]:.4f}, {own_losses[-1]:.4f}")
        print(f"averaged gradients beside PyTorch's autodiff: within {error:.1e}")
        models = [network(generated=True), network(generated=False)]
        x = examples(rank)[0]
        generated, own = step_times(models, x)
        memory = [saved_bytes(model, x) for model in models]
        print(f"time: {generated * 1e3:.2f} ms, {generated / own:.2f} of PyTorch's autodiff")
        print(f"saved: {memory[0]} bytes, {memory[0] / memory[1]:.2f} of PyTorch's autodiff")
    dist.barrier()
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="aot_eager", help="of torch.compile")
    backend = parser.parse_args().backend
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(f"{folder}/meeting", backend), nprocs=PROCESSES)


if __name__ == "__main__":
    main()

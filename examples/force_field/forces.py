"""Energy, forces and Hessian-vector products of a potential that was generated for PyTorch.

    python forces.py [--atoms 128]

The forces are differentiated once more, as for training on forces or for relaxing a structure: by a
double backward pass, which is also traced with `make_fx` as programs that export potentials do.
Everything is compared with PyTorch's own derivatives of the same formula.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch_ops import pair_energy

Pair = Callable[[Tensor], Tensor]
Product = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def composite(
    distance: Tensor, depth: float = 1.0, width: float = 1.0, cutoff: float = 2.5
) -> Tensor:
    """The potential by PyTorch's own functions, which save every step."""
    power = (width / distance) ** 6
    rest = 1 - (distance / cutoff) ** 2
    return torch.where(distance < cutoff, 4 * depth * (power * power - power) * rest**3, 0)


def energy(positions: Tensor, pairs: Tensor, potential: Pair) -> Tensor:
    """The energy of atoms at positions [n, 3], whose pairs are [2, m] indices."""
    apart = positions[pairs[0]] - positions[pairs[1]]
    return potential(apart.square().sum(-1).sqrt()).sum()


def product_of(potential: Pair, pairs: Tensor) -> Product:
    """A function of positions and a direction: the forces, and the Hessian times the direction."""

    def product(positions: Tensor, direction: Tensor) -> tuple[Tensor, Tensor]:
        positions = positions.detach().requires_grad_()
        (slope,) = torch.autograd.grad(
            energy(positions, pairs, potential), positions, create_graph=True
        )
        (bend,) = torch.autograd.grad((slope * direction).sum(), positions)
        return -slope.detach(), bend

    return product


def lattice(count: int) -> Tensor:
    """Atoms on a cube's grid, each moved a little: positions [n, 3]."""
    side = round(count ** (1 / 3) + 0.499)
    grid = torch.cartesian_prod(*[torch.arange(float(side), dtype=torch.float64)] * 3)[:count]
    generator = torch.Generator().manual_seed(0)
    return 1.1 * grid + 0.05 * torch.randn(grid.shape, generator=generator, dtype=torch.float64)


def saved_bytes(positions: Tensor, pairs: Tensor, potential: Pair) -> int:
    """The bytes that the graph of the potential keeps for the backward pass."""
    distance = (positions[pairs[0]] - positions[pairs[1]]).norm(dim=-1).requires_grad_()
    kept: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        kept[tensor.data_ptr()] = tensor.untyped_storage().nbytes()
        held.append(tensor)
        return tensor

    held: list[Tensor] = []
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        potential(distance)
    return sum(kept.values())


def best_times(functions: list[Callable[[], object]], turns: int = 15) -> list[float]:
    """The shortest time of each of several functions, called in turns."""
    best = [float("inf")] * len(functions)
    for _ in range(turns):
        for number, function in enumerate(functions):
            started = time.perf_counter()
            function()
            best[number] = min(best[number], time.perf_counter() - started)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--atoms", type=int, default=128)
    count = parser.parse_args().atoms
    positions = lattice(count)
    pairs = torch.combinations(torch.arange(count)).T.contiguous()
    direction = torch.randn(
        positions.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64
    )
    ours, theirs = product_of(pair_energy, pairs), product_of(composite, pairs)
    total = energy(positions, pairs, pair_energy)
    forces, bend = ours(positions, direction)
    print(f"{count} atoms, {pairs.shape[1]} pairs: energy {total:.6f}")
    print(f"largest force {forces.abs().max():.6f}, sum of all {forces.sum(0).norm():.1e}")

    expected = theirs(positions, direction)
    scale = [each.abs().max() for each in expected]
    errors = [
        float((a - b).abs().max() / s)
        for a, b, s in zip((forces, bend), expected, scale, strict=True)
    ]
    traced = make_fx(ours)(positions, direction)
    again = traced(positions, direction)
    same = all(torch.equal(a, b) for a, b in zip(again, (forces, bend), strict=True))
    print(f"double backward traced by make_fx: {len(traced.graph.nodes)} nodes, equal: {same}")

    slow, fast = ((lambda p=p: p(positions, direction)) for p in (theirs, ours))
    own, generated = best_times([slow, fast])
    bytes_own, bytes_generated = (
        saved_bytes(positions, pairs, p) for p in (composite, pair_energy)
    )
    print(f"beside PyTorch's autodiff: forces within {errors[0]:.1e}, products {errors[1]:.1e}")
    print(f"time: {generated * 1e3:.2f} ms, {generated / own:.2f} of PyTorch's autodiff")
    print(
        f"saved: {bytes_generated} bytes, {bytes_generated / bytes_own:.2f} of PyTorch's autodiff"
    )


if __name__ == "__main__":
    main()

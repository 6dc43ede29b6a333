"""Train a network on generated ops on four devices: `shard_map` over the examples, compiled.

    python train.py

The devices are parts of the CPU. The norm and the gated activation are those of ../framework_ops,
generated for JAX. The same network on JAX's own functions starts from the same weights; gradients,
losses, time and memory are compared.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import Array
from jax.sharding import AxisType, PartitionSpec

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "framework_ops"))

import jax_ops

DEVICES = 4
STEPS = 12
WIDTH = 32
BATCH = 512

Weights = dict[str, Array]
Ops = tuple[Callable[..., Array], Callable[..., Array]]


def own_norm(x: Array, weight: Array) -> Array:
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * weight


def own_swiglu(x: Array, gate: Array) -> Array:
    return x * jax.nn.silu(gate)


GENERATED: Ops = (jax_ops.scaled_rms_norm, jax_ops.swiglu)
OWN: Ops = (own_norm, own_swiglu)


def first_weights() -> Weights:
    """The weights of a gated layer and a last one."""
    keys = jax.random.split(jax.random.key(0), 3)
    return {
        "norm": jnp.ones(WIDTH),
        "widen": jax.random.normal(keys[0], (WIDTH, 4 * WIDTH)) / WIDTH**0.5,
        "narrow": jax.random.normal(keys[1], (2 * WIDTH, WIDTH)) / (2 * WIDTH) ** 0.5,
        "last": jax.random.normal(keys[2], (WIDTH, 1)) / WIDTH**0.5,
    }


def loss_of(ops: Ops, weights: Weights, x: Array, y: Array) -> Array:
    """The mean squared error of a network for [n, WIDTH] and [n, 1]."""
    norm, gated = ops
    value, gate = jnp.split(norm(x, weights["norm"]) @ weights["widen"], 2, -1)
    hidden = x + gated(value, gate) @ weights["narrow"]
    return ((hidden @ weights["last"] - y) ** 2).mean()


def sharded_gradient(ops: Ops) -> Callable[[Weights, Array, Array], tuple[Array, Weights]]:
    """The loss and its gradient, of which every device computes the part of its examples."""
    mesh = jax.make_mesh((DEVICES,), ("examples",), axis_types=(AxisType.Auto,))
    whole, part = PartitionSpec(), PartitionSpec("examples")

    @partial(jax.shard_map, mesh=mesh, in_specs=(whole, part, part), out_specs=whole)
    def total(weights: Weights, x: Array, y: Array) -> Array:
        return jax.lax.pmean(loss_of(ops, weights, x, y), "examples")

    return jax.jit(jax.value_and_grad(total))


def train(ops: Ops, x: Array, y: Array) -> tuple[Weights, list[float]]:
    """The gradients of the first step, and the loss of every step."""
    gradient = sharded_gradient(ops)
    weights, losses, first = first_weights(), [], {}
    for step in range(STEPS):
        loss, found = gradient(weights, x, y)
        first = found if step == 0 else first
        weights = jax.tree.map(lambda w, g: w - 0.05 * g, weights, found)
        losses.append(float(loss))
    return first, losses


def best_times(functions: list[Callable[[], object]], turns: int = 30) -> list[float]:
    """The shortest time of each of several functions, called in turns."""
    best = [float("inf")] * len(functions)
    for _ in range(turns):
        for number, function in enumerate(functions):
            started = time.perf_counter()
            jax.block_until_ready(function())
            best[number] = min(best[number], time.perf_counter() - started)
    return best


def saved_bytes(ops: Ops, x: Array, y: Array) -> int:
    """The bytes of what a VJP keeps for the backward pass, besides weights and data."""
    weights = first_weights()
    _, pull = jax.vjp(partial(loss_of, ops), weights, x, y)
    given = {id(leaf) for leaf in jax.tree.leaves((weights, x, y))}
    kept = {id(leaf): leaf.nbytes for leaf in jax.tree.leaves(pull) if hasattr(leaf, "nbytes")}
    return sum(size for leaf, size in kept.items() if leaf not in given)


def main() -> None:
    jax.config.update("jax_num_cpu_devices", DEVICES)  # before JAX looks for devices
    x = jax.random.normal(jax.random.key(1), (BATCH, WIDTH))
    y = x[:, :1] * x[:, 1:2] + 0.5 * x[:, 2:3]
    (ours, losses), (theirs, own_losses) = train(GENERATED, x, y), train(OWN, x, y)
    errors = jax.tree.map(lambda a, b: jnp.abs(a - b).max() / jnp.abs(b).max(), ours, theirs)
    ends = f"{losses[0]:.4f}, after {STEPS} steps {losses[-1]:.4f}"
    print(f"loss on {jax.device_count()} devices: {ends}")
    print(f"on JAX's own functions: {own_losses[0]:.4f}, {own_losses[-1]:.4f}")
    _, alone = jax.value_and_grad(partial(loss_of, OWN))(first_weights(), x, y)
    apart = jax.tree.map(lambda a, b: jnp.abs(a - b).max() / jnp.abs(b).max(), ours, alone)
    print(f"gradients beside one device's: within {max(map(float, jax.tree.leaves(apart))):.1e}")
    steps = [partial(sharded_gradient(ops), first_weights(), x, y) for ops in (GENERATED, OWN)]
    generated, own = best_times(list(steps))
    memory = [saved_bytes(ops, x, y) for ops in (GENERATED, OWN)]
    worst = max(map(float, jax.tree.leaves(errors)))
    print(f"gradients beside JAX's autodiff: within {worst:.1e}")
    print(f"time: {generated * 1e3:.2f} ms, {generated / own:.2f} of JAX's autodiff")
    print(f"saved: {memory[0]} bytes, {memory[0] / memory[1]:.2f} of JAX's autodiff")


if __name__ == "__main__":
    main()

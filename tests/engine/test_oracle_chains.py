"""Random graphs of ops that treat every element by itself, with every gradient counted as large."""

from __future__ import annotations

import random
from typing import Any, TypeAlias

import numpy as np
import pytest

import gradspec as gs
from gradspec.fast import parallel_for as threads
from gradspec.graph import chains

from ..thresholds import set_thresholds

pytestmark = pytest.mark.oracle

Step: TypeAlias = tuple[str, int, int]

UNARY = (
    *("sin", "cos", "neg", "abs", "square", "sigmoid", "tanh", "relu", "atan", "erf", "t"),
    *("+ 1.5", "* 0.7", "1 -", "/ 3", "clamp", "contiguous"),
)
BINARY = ("add", "sub", "mul", "maximum", "where", "/")
SHAPE = (4, 4)


def step(lib: Any, name: str, x: Any, y: Any) -> Any:
    """What one step answers, of one tensor or of two."""
    match name:
        case "+ 1.5":
            return x + 1.5
        case "* 0.7":
            return x * 0.7
        case "1 -":
            return 1 - x
        case "/ 3":
            return x / 3
        case "t":
            return x.t() if x.ndim == 2 else x
        case "clamp":
            return x.clamp(-1, 1)
        case "where":
            return lib.where(x > y, x, y * 2)
        case "/":
            return x / (y.abs() + 1)
    return getattr(lib, name)(x, y) if name in BINARY else getattr(x, name)()


def make_steps(rng: random.Random, leaves: int) -> list[Step]:
    """Most steps go on from the last: so there are long chains, and places where they meet."""
    steps = []
    for last in range(leaves - 1, leaves + rng.randrange(4, 18)):
        first = last if rng.random() < 0.75 else rng.randrange(last + 1)
        name = rng.choice(UNARY if rng.random() < 0.65 else BINARY)
        steps.append((name, first, rng.randrange(last + 1)))
    return steps


def gradients(lib: Any, seed: int) -> list[Any]:
    """Of all leaves, or by `autograd.grad` of the last one."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    tensors = []
    for shape in (*rng.choices([SHAPE, SHAPE, (1, 4), ()], k=3), SHAPE):
        asks = len(tensors) == 3 or rng.random() < 0.5
        tensors.append(lib.tensor(numbers.standard_normal(shape), requires_grad=asks))
    leaves = [leaf for leaf in tensors if leaf.requires_grad]
    for name, first, second in make_steps(rng, len(tensors)):
        tensors.append(step(lib, name, tensors[first], tensors[second]))
        if rng.random() < 0.02 and tensors[-1].requires_grad:
            tensors[-1].register_hook(lambda grad: grad * 2)
    total = tensors[-1].sum()
    if not total.requires_grad:
        return []
    if rng.random() < 0.4:
        return list(lib.autograd.grad(total, leaves[-1:], allow_unused=True))
    total.backward(retain_graph=True)
    total.backward()
    return [leaf.grad for leaf in leaves]


def test_random_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    passed = []
    pass_through = chains._passed_through

    def counted(links: Any, grad: Any) -> Any:
        passed.append(len(links))
        return pass_through(links, grad)

    monkeypatch.setattr(chains, "_passed_through", counted)
    set_thresholds(monkeypatch, CHAIN_BLOCK_BYTES=40, PARALLEL_UFUNC_MIN=2)
    monkeypatch.setattr(threads._workers, "have_met_large", True)
    for seed in range(1_000):
        ours, theirs = gradients(gs, seed), gradients(torch, seed)
        assert len(ours) == len(theirs), seed
        for found, expected in zip(ours, theirs, strict=True):
            assert (found is None) == (expected is None), seed
            if found is not None:
                np.testing.assert_allclose(
                    found.numpy(), expected.numpy(), rtol=1e-9, atol=1e-12, err_msg=f"seed {seed}"
                )
    assert len(passed) > 500
    assert max(passed) > 5

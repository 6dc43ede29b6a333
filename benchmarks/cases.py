"""What is measured: one workload each, for any library with PyTorch's API, and by hand in NumPy.

A workload is a function without arguments that computes gradients from nothing, forward and
backward, and returns them; so the libraries can be compared before they are timed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
Workload: TypeAlias = Callable[[], Sequence[Array]]


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the table."""

    name: str
    doc: str
    by_hand: Callable[[], Workload]
    """Prepares the workload in plain NumPy: the derivative written out by a person."""
    by_library: Callable[[Any], Workload]
    """Prepares it for a module with PyTorch's API: the same code for both libraries."""


def chain(elements: int) -> Case:
    """91 recorded ops in a row: 30 times multiply, sine, add; and a sum."""
    rng = np.random.default_rng(0)
    start, scale, shift = (rng.uniform(0.5, 1.5, elements) for _ in range(3))

    def by_hand() -> Workload:
        def run() -> Sequence[Array]:
            y = start
            scaled = []
            for _ in range(30):
                u = y * scale
                scaled.append(u)
                y = np.sin(u) + shift
            y.sum()
            grad = np.ones(elements)
            for u in reversed(scaled):
                grad = grad * np.cos(u) * scale
            return [grad]

        return run

    def by_library(lib: Any) -> Workload:
        x = lib.tensor(start, requires_grad=True)
        w, b = lib.tensor(scale), lib.tensor(shift)

        def run() -> Sequence[Array]:
            x.grad = None
            y = x
            for _ in range(30):
                y = (y * w).sin() + b
            y.sum().backward()
            return [x.grad.numpy()]

        return run

    size = f"{elements:,}".replace(",", "\N{NO-BREAK SPACE}")
    return Case(
        f"chain of {size}", f"91 ops in a row, {size} float64 elements", by_hand, by_library
    )


def rosenbrock(n: int) -> Case:
    """The gradient of the Rosenbrock function of `n` variables, as an optimiser asks for it."""
    start = np.random.default_rng(1).standard_normal(n)

    def by_hand() -> Workload:
        def run() -> Sequence[Array]:
            x = start
            head, tail = x[:-1], x[1:]
            gap = tail - head**2
            (100 * gap**2 + (1 - head) ** 2).sum()
            grad = np.zeros_like(x)
            grad[:-1] = -400 * head * gap - 2 * (1 - head)
            grad[1:] += 200 * gap
            return [grad]

        return run

    def by_library(lib: Any) -> Workload:
        x = lib.tensor(start, requires_grad=True)

        def run() -> Sequence[Array]:
            x.grad = None
            head, tail = x[:-1], x[1:]
            (100 * (tail - head**2) ** 2 + (1 - head) ** 2).sum().backward()
            return [x.grad.numpy()]

        return run

    return Case(
        f"Rosenbrock {n}", f"Rosenbrock function of {n} float64 variables", by_hand, by_library
    )


def mlp() -> Case:
    """A step of a small classifier: 32 × 64 → 128 → 10, cross-entropy, gradients of 4 weights."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((32, 64)).astype(np.float32)
    target = rng.integers(0, 10, 32)
    weights = [
        (rng.standard_normal(shape) / 8).astype(np.float32)
        for shape in ((128, 64), (128,), (10, 128), (10,))
    ]

    def by_hand() -> Workload:
        rows = np.arange(32)

        def run() -> Sequence[Array]:
            w1, b1, w2, b2 = weights
            z = x @ w1.T + b1
            h = np.maximum(z, 0)
            logits = h @ w2.T + b2
            shifted = logits - logits.max(axis=1, keepdims=True)
            exp = np.exp(shifted)
            total = exp.sum(axis=1, keepdims=True)
            (np.log(total[:, 0]) - shifted[rows, target]).mean()
            grad = exp / total
            grad[rows, target] -= 1
            grad /= np.float32(32)
            grad_h = (grad @ w2) * (z > 0)
            return [grad_h.T @ x, grad_h.sum(axis=0), grad.T @ h, grad.sum(axis=0)]

        return run

    def by_library(lib: Any) -> Workload:
        w1, b1, w2, b2 = params = [lib.tensor(w, requires_grad=True) for w in weights]
        inputs, labels = lib.tensor(x), lib.tensor(target)
        functional = lib.nn.functional

        def run() -> Sequence[Array]:
            for param in params:
                param.grad = None
            h = functional.relu(functional.linear(inputs, w1, b1))
            logits = functional.linear(h, w2, b2)
            functional.cross_entropy(logits, labels).backward()
            return [param.grad.numpy() for param in params]

        return run

    return Case(
        "MLP 32×64×128×10", "batch of 32 through an MLP 64×128×10, float32", by_hand, by_library
    )


CASES = (chain(4), chain(1_000), chain(1_000_000), rosenbrock(100), mlp())

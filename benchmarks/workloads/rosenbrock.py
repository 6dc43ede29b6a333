"""The gradient of the Rosenbrock function, as an optimiser asks for it: slices and few elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..workload import Run, Workload


class Rosenbrock(Workload):
    """The sum of 100 (xᵢ₊₁ - xᵢ²)² + (1 - xᵢ)²."""

    def __init__(self, n: int) -> None:
        self.name = f"rosenbrock-{n}"
        self.title = f"Rosenbrock {n}"
        self.doc = f"Rosenbrock function of {n} float64 variables"
        self.n = n

    def create_data(self) -> None:
        self.params = [np.random.default_rng(1).standard_normal(self.n)]

    def by_hand(self) -> Run:
        (x,) = self.params

        def run() -> Sequence[Any]:
            head, tail = x[:-1], x[1:]
            gap = tail - head**2
            (100 * gap**2 + (1 - head) ** 2).sum()
            grad = np.zeros_like(x)
            grad[:-1] = -400 * head * gap - 2 * (1 - head)
            grad[1:] += 200 * gap
            return [grad]

        return run

    def by_pytorch_api(self, lib: Any) -> Run:
        x = lib.tensor(self.params[0], requires_grad=True)

        def run() -> Sequence[Any]:
            x.grad = None
            head, tail = x[:-1], x[1:]
            (100 * (tail - head**2) ** 2 + (1 - head) ** 2).sum().backward()
            return [x.grad]

        return run

    def loss(self, np: Any, params: Sequence[Any]) -> Any:
        (x,) = params
        head, tail = x[:-1], x[1:]
        return np.sum(100 * (tail - head**2) ** 2 + (1 - head) ** 2)


WORKLOADS: tuple[Workload, ...] = (Rosenbrock(100),)
SMALL: tuple[Workload, ...] = (Rosenbrock(4),)

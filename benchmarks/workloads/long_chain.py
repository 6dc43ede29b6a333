"""A very long graph: built, walked backward and released without recursion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..workload import Run, Workload


class LongChain(Workload):
    """`x` times a constant, again and again, of 4 elements; a call ends when all is freed."""

    slow = True
    absent: ClassVar = dict.fromkeys(
        ("jax", "torch-compile", "compiled"), "would compile every op of the chain"
    )

    def __init__(self, nodes: int) -> None:
        size = f"{nodes:,}".replace(",", "\N{NO-BREAK SPACE}")
        self.name = f"nodes-{nodes}"
        self.title = f"{size} nodes"
        self.doc = f"a chain of {size} nodes: built, walked backward, released"
        self.nodes = nodes
        self.factor = 1 + 1e-7

    def create_data(self) -> None:
        self.params = [np.random.default_rng(7).uniform(0.5, 1.5, 4)]

    def by_hand(self) -> Run:
        (x,) = self.params

        def run() -> Sequence[Any]:
            y = x
            for _ in range(self.nodes):
                y = y * self.factor
            grad = np.ones_like(x)
            for _ in range(self.nodes):
                grad = grad * self.factor
            return [grad]

        return run

    def by_pytorch_api(self, lib: Any) -> Run:
        x = lib.tensor(self.params[0], requires_grad=True)

        def run() -> Sequence[Any]:
            x.grad = None
            y = x
            for _ in range(self.nodes):
                y = y * self.factor
            y.sum().backward()
            return [x.grad]

        return run

    def loss(self, np: Any, params: Sequence[Any]) -> Any:
        (y,) = params
        for _ in range(self.nodes):
            y = y * self.factor
        return np.sum(y)


WORKLOADS: tuple[Workload, ...] = (LongChain(1_000_000),)
SMALL: tuple[Workload, ...] = (LongChain(50),)

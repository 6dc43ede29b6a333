"""A chain of elementwise ops: what an op costs besides its arithmetic, at three sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..workload import Run, Workload

LINKS = 30


class Chain(Workload):
    """30 times multiply, sine, add; and a sum: 91 recorded ops in a row."""

    def __init__(self, elements: int, dtype: str = "float64", links: int = LINKS) -> None:
        size = f"{elements:,}".replace(",", "\N{NO-BREAK SPACE}")
        is_double = dtype == "float64"
        self.name = f"chain-{elements}" + ("" if is_double else f"-{dtype}")
        self.name += "" if links == LINKS else f"-{links}"
        self.title = f"chain of {size}" + ("" if is_double else f", {dtype}")
        self.doc = f"{3 * links + 1} ops in a row, {size} {dtype} elements"
        self.tolerance = 1e-9 if is_double else 1e-4
        self.elements = elements
        self.links = links
        self.dtype = dtype

    def create_data(self) -> None:
        rng = np.random.default_rng(0)
        start, self.scale, self.shift = (
            rng.uniform(0.5, 1.5, self.elements).astype(self.dtype) for _ in range(3)
        )
        self.params = [start]

    def by_hand(self) -> Run:
        (start,), scale, shift = self.params, self.scale, self.shift

        def run() -> Sequence[Any]:
            y = start
            scaled = []
            for _ in range(self.links):
                u = y * scale
                scaled.append(u)
                y = np.sin(u) + shift
            y.sum()
            grad = np.ones_like(start)
            for u in reversed(scaled):
                grad = grad * np.cos(u) * scale
            return [grad]

        return run

    def by_pytorch_api(self, lib: Any) -> Run:
        x = lib.tensor(self.params[0], requires_grad=True)
        scale, shift = lib.tensor(self.scale), lib.tensor(self.shift)

        def run() -> Sequence[Any]:
            x.grad = None
            y = x
            for _ in range(self.links):
                y = (y * scale).sin() + shift
            y.sum().backward()
            return [x.grad]

        return run

    def loss(self, np: Any, params: Sequence[Any]) -> Any:
        (y,) = params
        for _ in range(self.links):
            y = np.sin(y * self.scale) + self.shift
        return np.sum(y)


WORKLOADS: tuple[Workload, ...] = (
    Chain(4),
    Chain(1_000),
    Chain(1_000, "float32"),  # what PyTorch makes of numbers; NumPy has quick sines of float32 only
    Chain(1_000_000),
    Chain(1_000_000, "float32"),
)
SIZES: tuple[Chain, ...] = tuple(Chain(10**power, "float32", links=3) for power in range(8))
"""Sizes that `--sizes` measures: ten ops from one element to ten million."""
SMALL: tuple[Workload, ...] = (Chain(3), Chain(3, "float32"))

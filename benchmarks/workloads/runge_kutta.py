"""A differential equation, solved by the method of Runge and Kutta, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..workload import Array, Run, Workload
from .dialects import is_jax

STEP = 0.01


class RungeKutta(Workload):
    """Three oscillators with damping and a cubic force, from their places and speeds."""

    absent: ClassVar = {"torch-compile": "unrolls the loop, and compiles it for minutes"}

    def __init__(self, steps: int) -> None:
        self.name = f"runge-kutta-{steps}"
        number = f"{steps:,}".replace(",", "\N{NO-BREAK SPACE}")
        self.title = f"Runge-Kutta, {number} steps"
        self.doc = f"gradient of {number} steps of Runge-Kutta by parameters, 6 states, float64"
        self.steps = steps

    def create_data(self) -> None:
        rng = np.random.default_rng(8)
        self.start = rng.standard_normal(6)
        self.params = [rng.uniform(0.5, 1, 3) for _ in range(3)]

    def by_hand(self) -> Run:
        stiffness, damping, cubic = self.params

        def slope(y: Array) -> Array:
            q, v = y[:3], y[3:]
            return np.concatenate([v, -stiffness * q - damping * v - cubic * q * q * q])

        def pulled_back(y: Array, grad: Array, sums: list[Array]) -> Array:
            q, v = y[:3], y[3:]
            grad_q, grad_v = grad[:3], grad[3:]
            square = q * q
            sums[0] -= grad_v * q
            sums[1] -= grad_v * v
            sums[2] -= grad_v * square * q
            by_q = -grad_v * (stiffness + 3 * cubic * square)
            return np.concatenate([by_q, grad_q - damping * grad_v])

        def run() -> Sequence[Any]:
            y = self.start
            places = []
            for _ in range(self.steps):
                k1 = slope(y)
                y2 = y + STEP / 2 * k1
                k2 = slope(y2)
                y3 = y + STEP / 2 * k2
                k3 = slope(y3)
                y4 = y + STEP * k3
                places.append((y, y2, y3, y4))
                y = y + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + slope(y4))
            (y * y).sum()
            grad = 2 * y
            sums = [np.zeros(3) for _ in range(3)]
            for y1, y2, y3, y4 in reversed(places):
                grad4 = pulled_back(y4, STEP / 6 * grad, sums)
                grad3 = pulled_back(y3, STEP / 3 * grad + STEP * grad4, sums)
                grad2 = pulled_back(y2, STEP / 3 * grad + STEP / 2 * grad3, sums)
                grad1 = pulled_back(y1, STEP / 6 * grad + STEP / 2 * grad2, sums)
                grad = grad + grad1 + grad2 + grad3 + grad4
            return sums

        return run

    def by_pytorch_api(self, lib: Any) -> Run:
        params = [lib.tensor(param, requires_grad=True) for param in self.params]
        start = lib.tensor(self.start)

        def run() -> Sequence[Any]:
            for param in params:
                param.grad = None

            def step(y: Any) -> Any:
                return stepped(lib.cat, y, params)

            if hasattr(lib, "scan"):
                y, _ = lib.scan(lambda y, _: (step(y), None), start, length=self.steps)
            else:
                y = start
                for _ in range(self.steps):
                    y = step(y)
            (y * y).sum().backward()
            return [param.grad for param in params]

        return run

    def loss(self, np: Any, params: Sequence[Any]) -> Any:
        y: Any = self.start
        if is_jax(np):
            from jax.lax import scan

            y, _ = scan(
                lambda y, _: (stepped(np.concatenate, y, params), None), y, length=self.steps
            )
        else:
            for _ in range(self.steps):
                y = stepped(np.concatenate, y, params)
        return np.sum(y * y)


def stepped(join: Any, y: Any, params: Sequence[Any]) -> Any:
    """The next state, by the function that joins arrays."""
    stiffness, damping, cubic = params

    def slope(y: Any) -> Any:
        q, v = y[:3], y[3:]
        return join([v, -stiffness * q - damping * v - cubic * q * q * q])

    k1 = slope(y)
    k2 = slope(y + STEP / 2 * k1)
    k3 = slope(y + STEP / 2 * k2)
    k4 = slope(y + STEP * k3)
    return y + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


WORKLOADS: tuple[Workload, ...] = (RungeKutta(1_000),)
SMALL: tuple[Workload, ...] = (RungeKutta(7),)

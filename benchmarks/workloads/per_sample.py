"""Gradients of a perceptron for each of many examples by itself: `vmap` of a gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..workload import Run, Workload
from .dialects import is_jax


class PerSampleGradients(Workload):
    """One hidden layer (tanh) and a squared error."""

    tolerance = 1e-4
    absent: ClassVar = {"mygrad": "has no vmap", "autograd": "has no vmap"}

    def __init__(self, examples: int, width: int, hidden: int) -> None:
        self.name = f"per-sample-{examples}"
        number = f"{examples:,}".replace(",", "\N{NO-BREAK SPACE}")
        self.title = f"per-sample gradients, {number}"
        self.doc = f"gradients of {number} examples each, MLP {width}×{hidden}×1, float32"
        self.sizes = examples, width, hidden

    def create_data(self) -> None:
        examples, width, hidden = self.sizes
        rng = np.random.default_rng(10)
        arrays = [
            rng.standard_normal((hidden, width)) / width**0.5,
            rng.standard_normal(hidden),
            rng.standard_normal(hidden) / hidden**0.5,
        ]
        self.params = [array.astype(np.float32) for array in arrays]
        self.x = rng.standard_normal((examples, width)).astype(np.float32)
        self.y = rng.standard_normal(examples).astype(np.float32)

    def by_hand(self) -> Run:
        weight, bias, out = self.params
        x, y = self.x, self.y

        def run() -> Sequence[Any]:
            h = np.tanh(x @ weight.T + bias)
            error = h @ out - y
            (error * error).sum()
            grad = (2 * error)[:, None]
            grad_z = grad * out * (1 - h * h)
            return [grad_z[:, :, None] * x[:, None, :], grad_z, grad * h]

        return run

    def by_pytorch_api(self, lib: Any) -> Run:
        params = [lib.tensor(param) for param in self.params]
        x, y = lib.tensor(self.x), lib.tensor(self.y)

        def error(params: Sequence[Any], x: Any, y: Any) -> Any:
            weight, bias, out = params
            return ((weight @ x + bias).tanh() @ out - y) ** 2

        each = lib.func.vmap(lib.func.grad(error), in_dims=(None, 0, 0))

        def run() -> Sequence[Any]:
            grads: Sequence[Any] = each(params, x, y)
            return grads

        return run

    def loss(self, np: Any, params: Sequence[Any]) -> Any:
        weight, bias, out = params
        error = np.matmul(np.tanh(np.matmul(self.x, weight.T) + bias), out) - self.y
        return np.sum(error * error)

    def pure(self, np: Any, grad: Callable[..., Any]) -> Callable[[Sequence[Any]], list[Any]]:
        assert is_jax(np)
        from jax import vmap

        def error(params: Sequence[Any], x: Any, y: Any) -> Any:
            weight, bias, out = params
            return (np.matmul(np.tanh(np.matmul(weight, x) + bias), out) - y) ** 2

        each = vmap(grad(error), in_axes=(None, 0, 0))
        return lambda params: list(each(params, self.x, self.y))


WORKLOADS: tuple[Workload, ...] = (PerSampleGradients(1_000, 16, 32),)
SMALL: tuple[Workload, ...] = (PerSampleGradients(5, 3, 4),)

"""A Hessian-vector product: the gradient of a gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..workload import Run, Workload
from .dialects import is_jax


class HessianVectorProduct(Workload):
    """The Hessian of a perceptron with one hidden layer (tanh) and a squared error."""

    tolerance = 1e-4
    absent: ClassVar = {
        "mygrad": "has no second derivatives",
        "torch-compile": "refuses a second backward pass",
    }

    def __init__(self, batch: int, width: int, hidden: int, outputs: int) -> None:
        self.name = f"hvp-{batch}-{width}-{hidden}-{outputs}"
        sizes = f"{batch}×{width}×{hidden}×{outputs}"
        self.title = f"HVP {sizes}"
        self.doc = f"Hessian-vector product of an MLP, batch × widths {sizes}, float32"
        self.sizes = batch, width, hidden, outputs

    def create_data(self) -> None:
        batch, width, hidden, outputs = self.sizes
        rng = np.random.default_rng(6)
        shapes = ((hidden, width), (hidden,), (outputs, hidden), (outputs,))
        arrays = [rng.standard_normal(shape) / shape[-1] ** 0.5 for shape in 2 * shapes]
        self.params = [array.astype(np.float32) for array in arrays[:4]]
        self.vectors = [array.astype(np.float32) for array in arrays[4:]]
        self.x = rng.standard_normal((batch, width)).astype(np.float32)
        self.y = rng.standard_normal((batch, outputs)).astype(np.float32)

    def by_hand(self) -> Run:
        """Forward over reverse: the tangent (`_t`) of each line of the gradient."""
        w1, b1, w2, b2 = self.params
        w1_t, b1_t, w2_t, b2_t = self.vectors
        x, y = self.x, self.y
        scale = np.float32(2 / y.size)

        def run() -> Sequence[Any]:
            h = np.tanh(x @ w1.T + b1)
            slope = 1 - h * h
            h_t = slope * (x @ w1_t.T + b1_t)
            grad = (h @ w2.T + b2 - y) * scale
            grad_t = (h_t @ w2.T + h @ w2_t.T + b2_t) * scale
            grad_h = grad @ w2
            grad_h_t = grad_t @ w2 + grad @ w2_t
            grad_z_t = grad_h_t * slope - 2 * grad_h * h * h_t
            return [
                grad_z_t.T @ x,
                grad_z_t.sum(axis=0),
                grad_t.T @ h + grad.T @ h_t,
                grad_t.sum(axis=0),
            ]

        return run

    def by_pytorch_api(self, lib: Any) -> Run:
        w1, b1, w2, b2 = params = [lib.tensor(param, requires_grad=True) for param in self.params]
        vectors = [lib.tensor(vector) for vector in self.vectors]
        x, y = lib.tensor(self.x), lib.tensor(self.y)
        functional, differentiate = lib.nn.functional, lib.autograd.grad

        def run() -> Sequence[Any]:
            h = functional.linear(x, w1, b1).tanh()
            loss = functional.mse_loss(functional.linear(h, w2, b2), y)
            grads = differentiate(loss, params, create_graph=True)
            products: Sequence[Any] = differentiate(grads, params, vectors)
            return products

        return run

    def loss(self, np: Any, params: Sequence[Any]) -> Any:
        w1, b1, w2, b2 = params
        h = np.tanh(np.matmul(self.x, w1.T) + b1)
        error = np.matmul(h, w2.T) + b2 - self.y
        return np.mean(error * error)

    def pure(self, np: Any, grad: Callable[..., Any]) -> Callable[[Sequence[Any]], list[Any]]:
        gradient = grad(lambda params: self.loss(np, params))
        if is_jax(np):
            from jax import jvp

            return lambda params: jvp(gradient, (params,), (self.vectors,))[1]

        def along(params: Sequence[Any]) -> Any:
            pairs = zip(gradient(params), self.vectors, strict=True)
            return sum(np.sum(slope * vector) for slope, vector in pairs)

        product: Callable[[Sequence[Any]], list[Any]] = grad(along)
        return product


WORKLOADS: tuple[Workload, ...] = (HessianVectorProduct(32, 64, 32, 10),)
SMALL: tuple[Workload, ...] = (HessianVectorProduct(3, 4, 5, 2),)

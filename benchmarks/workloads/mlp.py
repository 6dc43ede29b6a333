"""A training step of a perceptron: forward, cross-entropy, backward, a step of SGD."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..workload import Array, Run, Workload
from .dialects import cross_entropy, relu


class Perceptron(Workload):
    """Linear layers of these widths with relu between them; labels of as many classes as the last.

    The learning rate is so small that thousands of steps leave the work the same.
    """

    tolerance = 1e-5
    learning_rate = 1e-5

    def __init__(self, batch: int, *widths: int) -> None:
        sizes = "×".join(map(str, (batch, *widths)))
        self.name = "mlp-" + sizes.replace("×", "-")
        self.title = f"MLP {sizes}"
        self.doc = f"training step of an MLP, batch × widths {sizes}, float32"
        self.batch, self.widths = batch, widths

    def create_data(self) -> None:
        rng = np.random.default_rng(2)
        self.x = rng.standard_normal((self.batch, self.widths[0])).astype(np.float32)
        self.labels = rng.integers(0, self.widths[-1], self.batch)
        self.params = []
        for fan_in, fan_out in pairwise(self.widths):
            weight = rng.standard_normal((fan_out, fan_in)) / fan_in**0.5
            bias = rng.standard_normal(fan_out) / fan_in**0.5
            self.params += [weight.astype(np.float32), bias.astype(np.float32)]

    def by_hand(self) -> Run:
        params = [param.copy() for param in self.params]
        layers = list(zip(params[::2], params[1::2], strict=True))
        rows, labels, rate = np.arange(len(self.x)), self.labels, np.float32(self.learning_rate)

        def run() -> Sequence[Any]:
            inputs = [self.x]
            for weight, bias in layers[:-1]:
                inputs.append(np.maximum(inputs[-1] @ weight.T + bias, 0))
            weight, bias = layers[-1]
            grad = softmax_minus_one_hot(inputs[-1] @ weight.T + bias, rows, labels)
            grads: list[Array] = []
            for (weight, _), x in zip(reversed(layers), reversed(inputs), strict=True):
                grads[:0] = [grad.T @ x, grad.sum(axis=0)]
                if x is not self.x:
                    grad = (grad @ weight) * (x > 0)
            for param, slope in zip(params, grads, strict=True):
                param -= rate * slope
            return [*grads, *params]

        return run

    def by_pytorch_api(self, lib: Any) -> Run:
        params = [lib.tensor(param, requires_grad=True) for param in self.params]
        layers = list(zip(params[::2], params[1::2], strict=True))
        x, labels = lib.tensor(self.x), lib.tensor(self.labels)
        optimizer = lib.optim.SGD(params, lr=self.learning_rate)
        functional = lib.nn.functional

        def run() -> Sequence[Any]:
            optimizer.zero_grad()
            h = x
            for weight, bias in layers[:-1]:
                h = functional.relu(functional.linear(h, weight, bias))
            logits = functional.linear(h, *layers[-1])
            functional.cross_entropy(logits, labels).backward()
            optimizer.step()
            return [*(param.grad for param in params), *(param.detach() for param in params)]

        return run

    def loss(self, np: Any, params: Sequence[Any]) -> Any:
        h: Any = self.x
        for weight, bias in zip(params[:-2:2], params[1:-2:2], strict=True):
            h = relu(np, np.matmul(h, weight.T) + bias)
        return cross_entropy(np, np.matmul(h, params[-2].T) + params[-1], self.labels)


def softmax_minus_one_hot(logits: Array, rows: Array, labels: Array) -> Array:
    """The gradient of the mean cross-entropy with respect to the logits; computes the loss too."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    exp = np.exp(shifted)
    total = exp.sum(axis=1, keepdims=True)
    (np.log(total[:, 0]) - shifted[rows, labels]).mean()
    grad: Array = exp / total
    grad[rows, labels] -= 1
    grad /= np.float32(len(rows))
    return grad


WORKLOADS: tuple[Workload, ...] = (
    Perceptron(32, 64, 128, 10),
    Perceptron(256, 784, 512, 512, 10),
)
SMALL: tuple[Workload, ...] = (Perceptron(3, 4, 5, 2), Perceptron(3, 4, 5, 6, 2))

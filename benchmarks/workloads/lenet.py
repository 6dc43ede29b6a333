"""LeNet-5 on pictures of 28 × 28: convolutions and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..workload import Array, Run, Workload
from .dialects import convolve, cross_entropy, max_pool, relu
from .mlp import softmax_minus_one_hot

SHAPES = ((6, 1, 5, 5), (16, 6, 5, 5), (120, 400), (84, 120), (10, 84))
"""The shapes of the weights; the first convolution pads by 2."""


class LeNet(Workload):
    """Forward, cross-entropy and the gradients of all weights and biases."""

    tolerance = 1e-4

    def __init__(self, batch: int) -> None:
        self.name = f"lenet-{batch}"
        self.title = f"LeNet, batch {batch}"
        self.doc = f"LeNet-5, batch of {batch}, float32"
        self.batch = batch

    def create_data(self) -> None:
        rng = np.random.default_rng(3)
        self.x = rng.standard_normal((self.batch, 1, 28, 28)).astype(np.float32)
        self.labels = rng.integers(0, 10, self.batch)
        self.params = []
        for shape in SHAPES:
            fan_in = np.prod(shape[1:])
            for size in (shape, shape[:1]):
                self.params.append((rng.standard_normal(size) / fan_in**0.5).astype(np.float32))

    def by_hand(self) -> Run:
        w1, b1, w2, b2, w3, b3, w4, b4, w5, b5 = self.params
        rows = np.arange(self.batch)

        def run() -> Sequence[Any]:
            columns1, maps1 = convolution(np.pad(self.x, PAD), w1, b1)
            pooled1, where1 = pooling(np.maximum(maps1, 0))
            columns2, maps2 = convolution(pooled1, w2, b2)
            pooled2, where2 = pooling(np.maximum(maps2, 0))
            flat = pooled2.reshape(self.batch, -1)
            h3 = np.maximum(flat @ w3.T + b3, 0)
            h4 = np.maximum(h3 @ w4.T + b4, 0)
            g5 = softmax_minus_one_hot(h4 @ w5.T + b5, rows, self.labels)
            g4 = (g5 @ w5) * (h4 > 0)
            g3 = (g4 @ w4) * (h3 > 0)
            g2 = unpooling((g3 @ w3).reshape(pooled2.shape), where2) * (maps2 > 0)
            g1 = unpooling(to_convolved(g2, w2), where1) * (maps1 > 0)
            grads = [*of_kernel(g1, columns1, w1), *of_kernel(g2, columns2, w2)]
            for grad, x in ((g3, flat), (g4, h3), (g5, h4)):
                grads += [grad.T @ x, grad.sum(axis=0)]
            return grads

        return run

    def by_pytorch_api(self, lib: Any) -> Run:
        params = [lib.tensor(param, requires_grad=True) for param in self.params]
        w1, b1, w2, b2, w3, b3, w4, b4, w5, b5 = params
        x, labels = lib.tensor(self.x), lib.tensor(self.labels)
        functional = lib.nn.functional
        conv2d, pool, linear = functional.conv2d, functional.max_pool2d, functional.linear
        nonlinear = functional.relu

        def run() -> Sequence[Any]:
            for param in params:
                param.grad = None
            h = pool(nonlinear(conv2d(x, w1, b1, padding=2)), 2)
            h = pool(nonlinear(conv2d(h, w2, b2)), 2).flatten(1)
            h = nonlinear(linear(h, w3, b3))
            h = nonlinear(linear(h, w4, b4))
            functional.cross_entropy(linear(h, w5, b5), labels).backward()
            return [param.grad for param in params]

        return run

    def loss(self, np: Any, params: Sequence[Any]) -> Any:
        w1, b1, w2, b2, w3, b3, w4, b4, w5, b5 = params
        maps = convolve(np, self.x, w1, padding=2) + np.reshape(b1, (-1, 1, 1))
        h = max_pool(np, relu(np, maps))
        maps = convolve(np, h, w2, padding=0) + np.reshape(b2, (-1, 1, 1))
        h = np.reshape(max_pool(np, relu(np, maps)), (self.batch, -1))
        for weight, bias in ((w3, b3), (w4, b4)):
            h = relu(np, np.matmul(h, weight.T) + bias)
        return cross_entropy(np, np.matmul(h, w5.T) + b5, self.labels)


PAD = ((0, 0), (0, 0), (2, 2), (2, 2))


def convolution(x: Array, weight: Array, bias: Array) -> tuple[Array, Array]:
    """The windows of `x` as rows, and the maps: (N, F, H, W), last axis fastest."""
    features, _, height, width = weight.shape
    windows = sliding_window_view(x, (height, width), axis=(2, 3))
    n, _, h, w = windows.shape[:4]
    columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * h * w, -1)
    maps = columns @ weight.reshape(features, -1).T + bias
    return columns, np.ascontiguousarray(maps.reshape(n, h, w, features).transpose(0, 3, 1, 2))


def of_kernel(grad: Array, columns: Array, weight: Array) -> tuple[Array, Array]:
    """The gradients of a convolution's weight and bias."""
    rows = grad.transpose(0, 2, 3, 1).reshape(-1, weight.shape[0])
    return (rows.T @ columns).reshape(weight.shape), rows.sum(axis=0)


def to_convolved(grad: Array, weight: Array) -> Array:
    """The gradient of a convolution's input: shifted sums, one for each place of the kernel."""
    n, features, h, w = grad.shape
    _, channels, height, width = weight.shape
    rows = grad.transpose(0, 2, 3, 1).reshape(-1, features) @ weight.reshape(features, -1)
    parts = rows.reshape(n, h, w, channels, height, width)
    out = np.zeros((n, channels, h + height - 1, w + width - 1), grad.dtype)
    for i in range(height):
        for j in range(width):
            out[:, :, i : i + h, j : j + w] += parts[..., i, j].transpose(0, 3, 1, 2)
    return out


def pooling(x: Array) -> tuple[Array, Array]:
    """Maxima of 2 × 2 windows, and where they were."""
    n, c, h, w = x.shape
    windows = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5)
    flat = windows.reshape(n, c, h // 2, w // 2, 4)
    where = flat.argmax(axis=-1)
    return np.take_along_axis(flat, where[..., None], axis=-1)[..., 0], where


def unpooling(grad: Array, where: Array) -> Array:
    """The gradient at the places of the maxima, zero elsewhere."""
    n, c, h, w = grad.shape
    flat = np.zeros((n, c, h, w, 4), grad.dtype)
    np.put_along_axis(flat, where[..., None], grad[..., None], axis=-1)
    windows = flat.reshape(n, c, h, w, 2, 2).transpose(0, 1, 2, 4, 3, 5)
    return windows.reshape(n, c, 2 * h, 2 * w)


WORKLOADS: tuple[Workload, ...] = (LeNet(32),)
SMALL: tuple[Workload, ...] = (LeNet(2),)

"""A transformer block: attention and a perceptron, each after a layer norm, in a residual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..workload import Array, Run, Workload
from .dialects import gelu, softmax

EPSILON = 1e-5


class TransformerBlock(Workload):
    """The mean square of the block's output; gradients of its 12 parameters and of its input."""

    tolerance = 1e-4
    absent: ClassVar = {"mygrad": "has no erf"}

    def __init__(self, batch: int, length: int, width: int, heads: int) -> None:
        self.name = f"transformer-{batch}-{length}-{width}"
        self.title = f"transformer {batch}×{length}×{width}"
        self.doc = f"transformer block, {batch}×{length}×{width}, {heads} heads, float32"
        self.batch, self.length, self.width, self.heads = batch, length, width, heads

    def create_data(self) -> None:
        width = self.width
        rng = np.random.default_rng(4)
        shapes = ((3 * width, width), (width, width), (4 * width, width), (width, 4 * width))
        params = [rng.standard_normal((self.batch, self.length, width))]
        for _ in range(2):
            params += [rng.uniform(0.5, 1.5, width), rng.standard_normal(width) / 8]
        for shape in shapes:
            params += [rng.standard_normal(shape) / shape[1] ** 0.5]
            params += [rng.standard_normal(shape[0]) / 8]
        self.params = [param.astype(np.float32) for param in params]

    def by_hand(self) -> Run:
        from scipy.special import erf

        x, gain1, shift1, gain2, shift2, w1, b1, w2, b2, w3, b3, w4, b4 = self.params
        root = np.float32((self.width // self.heads) ** -0.5)
        half, inverse = np.float32(0.5**0.5), np.float32((2 * np.pi) ** -0.5)

        def run() -> Sequence[Any]:
            unit1, deviation1 = standardised(x)
            normed1 = unit1 * gain1 + shift1
            q, k, v = self.split(normed1 @ w1.T + b1)
            scores = q @ (k * root).swapaxes(-1, -2)
            weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
            weights /= weights.sum(axis=-1, keepdims=True)
            mixed = self.merge(weights @ v)
            middle = x + mixed @ w2.T + b2
            unit2, deviation2 = standardised(middle)
            normed2 = unit2 * gain2 + shift2
            z = normed2 @ w3.T + b3
            cdf = (1 + erf(z * half)) * np.float32(0.5)
            h = z * cdf
            y = middle + h @ w4.T + b4
            (y * y).mean()

            grad_y = y * np.float32(2 / y.size)
            grad_z = (grad_y @ w4) * (cdf + z * np.exp(z * z * np.float32(-0.5)) * inverse)
            grad_normed2 = grad_z @ w3
            grad_middle = grad_y + to_standardised(grad_normed2 * gain2, unit2, deviation2)
            grad_mixed = self.split(grad_middle @ w2)[0]
            grad_weights = grad_mixed @ v.swapaxes(-1, -2)
            inner = (grad_weights * weights).sum(axis=-1, keepdims=True)
            grad_scores = (grad_weights - inner) * weights * root
            grad_qkv = np.concatenate(
                [
                    self.merge(grad_scores @ k),
                    self.merge(grad_scores.swapaxes(-1, -2) @ q),
                    self.merge(weights.swapaxes(-1, -2) @ grad_mixed),
                ],
                axis=-1,
            )
            grad_normed1 = grad_qkv @ w1
            grad_x = grad_middle + to_standardised(grad_normed1 * gain1, unit1, deviation1)
            return [
                grad_x,
                *of_affine(grad_normed1, unit1),
                *of_affine(grad_normed2, unit2),
                *of_linear(grad_qkv, normed1),
                *of_linear(grad_middle, mixed),
                *of_linear(grad_z, normed2),
                *of_linear(grad_y, h),
            ]

        return run

    def split(self, x: Array) -> list[Array]:
        """The parts of (batch, length, parts × width) as (batch, heads, length, width / heads)."""
        parts = np.split(x, x.shape[-1] // self.width, axis=-1)
        shape = (self.batch, self.length, self.heads, -1)
        return [part.reshape(shape).transpose(0, 2, 1, 3) for part in parts]

    def merge(self, x: Array) -> Array:
        """The heads beside one another again."""
        return x.transpose(0, 2, 1, 3).reshape(self.batch, self.length, self.width)

    def by_pytorch_api(self, lib: Any) -> Run:
        params = [lib.tensor(param, requires_grad=True) for param in self.params]
        x, gain1, shift1, gain2, shift2, w1, b1, w2, b2, w3, b3, w4, b4 = params
        functional = lib.nn.functional
        linear, layer_norm = functional.linear, functional.layer_norm
        heads = (self.batch, self.length, self.heads, self.width // self.heads)
        root, width = heads[-1] ** -0.5, (self.width,)

        def run() -> Sequence[Any]:
            for param in params:
                param.grad = None
            qkv = linear(layer_norm(x, width, gain1, shift1, EPSILON), w1, b1)
            q, k, v = (part.reshape(heads).transpose(1, 2) for part in qkv.chunk(3, dim=-1))
            weights = functional.softmax(q @ k.transpose(-2, -1) * root, dim=-1)
            mixed = (weights @ v).transpose(1, 2).reshape(x.shape)
            middle = x + linear(mixed, w2, b2)
            h = functional.gelu(linear(layer_norm(middle, width, gain2, shift2, EPSILON), w3, b3))
            y = middle + linear(h, w4, b4)
            (y * y).mean().backward()
            return [param.grad for param in params]

        return run

    def loss(self, np: Any, params: Sequence[Any]) -> Any:
        x, gain1, shift1, gain2, shift2, w1, b1, w2, b2, w3, b3, w4, b4 = params
        heads = (self.batch, self.length, self.heads, self.width // self.heads)
        qkv = np.matmul(layer_norm(np, x) * gain1 + shift1, w1.T) + b1
        q, k, v = (np.swapaxes(np.reshape(part, heads), 1, 2) for part in np.split(qkv, 3, axis=-1))
        weights = softmax(np, np.matmul(q, np.swapaxes(k, -1, -2)) * heads[-1] ** -0.5)
        mixed = np.reshape(np.swapaxes(np.matmul(weights, v), 1, 2), x.shape)
        middle = x + np.matmul(mixed, w2.T) + b2
        h = gelu(np, np.matmul(layer_norm(np, middle) * gain2 + shift2, w3.T) + b3)
        y = middle + np.matmul(h, w4.T) + b4
        return np.mean(y * y)


def layer_norm(np: Any, x: Any) -> Any:
    """Along the last axis, in the NumPy dialect of the module `np`."""
    centred = x - np.mean(x, axis=-1, keepdims=True)
    return centred / np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + EPSILON)


def standardised(x: Array) -> tuple[Array, Array]:
    """Layer norm without gain, and the deviations it divides by."""
    centred = x - x.mean(axis=-1, keepdims=True)
    square = (centred * centred).mean(axis=-1, keepdims=True)
    deviation = np.sqrt(square + np.float32(EPSILON))
    return centred / deviation, deviation


def to_standardised(grad: Array, unit: Array, deviation: Array) -> Array:
    """The gradient of the input of `standardised`."""
    along = (grad * unit).mean(axis=-1, keepdims=True)
    out: Array = (grad - grad.mean(axis=-1, keepdims=True) - unit * along) / deviation
    return out


def of_affine(grad: Array, unit: Array) -> tuple[Array, Array]:
    """The gradients of gain and shift."""
    return (grad * unit).sum(axis=(0, 1)), grad.sum(axis=(0, 1))


def of_linear(grad: Array, x: Array) -> tuple[Array, Array]:
    """The gradients of a linear layer's weight and bias."""
    rows = grad.reshape(-1, grad.shape[-1])
    return rows.T @ x.reshape(-1, x.shape[-1]), rows.sum(axis=0)


WORKLOADS: tuple[Workload, ...] = (TransformerBlock(8, 64, 128, 4),)
SMALL: tuple[Workload, ...] = (TransformerBlock(2, 3, 8, 2),)

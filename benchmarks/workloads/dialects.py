"""Names that differ in JAX, autograd and MyGrad, chosen by the name of their NumPy module."""

from __future__ import annotations

from typing import Any

import numpy


def is_jax(np: Any) -> bool:
    """Return whether this is `jax.numpy`."""
    return bool(np.__name__ == "jax.numpy")


def is_mygrad(np: Any) -> bool:
    """Return whether this is `mygrad`."""
    return bool(np.__name__ == "mygrad")


def cross_entropy(np: Any, logits: Any, labels: Any) -> Any:
    """The mean cross-entropy of rows of logits and labels (an integer array of NumPy)."""
    if is_mygrad(np):
        from mygrad.nnet.losses import softmax_crossentropy

        return softmax_crossentropy(logits, labels)
    if is_jax(np):
        from jax.nn import log_softmax

        log_probabilities = log_softmax(logits)
    else:
        shifted = logits - np.max(logits, axis=1, keepdims=True)
        log_probabilities = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(log_probabilities[numpy.arange(len(labels)), labels])


def relu(np: Any, x: Any) -> Any:
    """The larger of x and 0."""
    if is_mygrad(np):
        from mygrad.nnet.activations import relu as relu_of_mygrad

        return relu_of_mygrad(x)
    return np.maximum(x, 0)


def softmax(np: Any, x: Any) -> Any:
    """Along the last axis."""
    if is_jax(np):
        from jax.nn import softmax as softmax_of_jax

        return softmax_of_jax(x)
    exp = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return exp / np.sum(exp, axis=-1, keepdims=True)


def gelu(np: Any, x: Any) -> Any:
    """With the error function (MyGrad has none)."""
    if is_jax(np):
        from jax.nn import gelu as gelu_of_jax

        return gelu_of_jax(x, approximate=False)
    from autograd.scipy.special import erf

    return 0.5 * x * (1 + erf(x * 0.5**0.5))


def convolve(np: Any, x: Any, weight: Any, padding: int) -> Any:
    """2-D cross-correlation of `x` (N, C, H, W) with `weight` (F, C, kh, kw), stride 1."""
    if is_mygrad(np):
        from mygrad.nnet.layers import conv_nd

        return conv_nd(x, weight, stride=1, padding=padding)
    if is_jax(np):
        from jax.lax import conv

        around = ((0, 0), (0, 0), (padding, padding), (padding, padding))
        return conv(np.pad(x, around) if padding else x, weight, (1, 1), "VALID")
    from autograd.scipy.signal import convolve as convolve_of_autograd

    if padding:
        x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)), "constant")
    flipped = np.swapaxes(weight[:, :, ::-1, ::-1], 0, 1)
    return convolve_of_autograd(
        x, flipped, axes=([2, 3], [2, 3]), dot_axes=([1], [0]), mode="valid"
    )


def max_pool(np: Any, x: Any) -> Any:
    """Windows of 2 × 2 of `x` (N, C, H, W), H and W even."""
    if is_mygrad(np):
        from mygrad.nnet.layers import max_pool as max_pool_of_mygrad

        return max_pool_of_mygrad(x, (2, 2), 2)
    if is_jax(np):
        from jax.lax import max as larger
        from jax.lax import reduce_window

        return reduce_window(x, -numpy.inf, larger, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    n, c, h, w = x.shape
    return np.max(np.reshape(x, (n, c, h // 2, 2, w // 2, 2)), axis=(3, 5))

"""Functions of `nn.functional` that no entry can be: random, stateful, or with optional results.

What they compute on tensors is ops of the table, so all of them are differentiable in every mode.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..batching.randomness import for_each_element
from ..core.modes import is_grad_enabled
from ..core.random_generator import generator
from ..core.strides import in_order_of
from ..core.tensor import Tensor, wrap
from ..dispatch.numbers_given import real_given
from ..dispatch.op_errors import must_be_constant
from ..generated import layers, numbers, pooling
from ..inplace.ops import in_place, write
from ..kernels.elementwise.checks import HALF, floating

Sizes = int | Sequence[int]

# ---- chance


@for_each_element
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero elements with probability `p`, and scale the others so that the mean is kept.

    ValueError for a probability outside of [0, 1], RuntimeError for integers, which are not scaled.
    """
    if type(p) is not float:
        p = real_given("dropout", "p", p)
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    floating("dropout", input.array)
    noise = wrap(_kept(input, p) * np.asarray(_scale(p), input.array.dtype))
    return in_place(_times, "dropout_")(input, noise) if inplace else input * noise


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Apply `dropout`; return also the mask of the elements that it kept."""
    if train is False or p == 0:
        mask, scale = wrap(np.ones(input.array.shape, np.bool_)), 1.0
    else:
        mask, scale = wrap(_kept(input, p)), _scale(p)
    return layers._native_dropout(input, mask, scale), mask


def _kept(input: Tensor, p: float) -> Any:
    """Draw which elements are kept, in the order in memory that the result is to have."""
    return in_order_of(input.array, generator().random(input.array.shape) >= p)


def _scale(p: float) -> float:
    return 1 / (1 - p) if p < 1 else 0.0


def _times(input: Tensor, other: Tensor) -> Tensor:
    return input * other


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return positive elements, and a fraction of the negative ones."""
    if inplace:
        return in_place(layers._leaky_relu, "leaky_relu_")(input, negative_slope)
    return layers._leaky_relu(input, negative_slope)


# ---- state


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Give each channel mean 0 and variance 1, then scale and shift it.

    In training the statistics are those of the batch, and the running ones move towards them by
    `momentum`; otherwise the running ones are used. Halves are computed in single precision, by
    weights and statistics of either precision. ValueError where a channel has one element, and for
    an `eps` that is negative or, in training, zero. An empty input has no statistics, and is scaled
    like the first channel.
    """
    if eps < 0 or (training and eps == 0):
        wanted = "positive during training" if training else "non-negative"
        raise ValueError(f"batch_norm eps must be {wanted}, but got {eps}")
    return normalize_channels(
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )


def normalize_channels(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Tensor:
    """Apply `batch_norm` with any `eps`: that of other normalisations is not limited."""
    if not input.array.size:
        scaled = input.clone() if weight is None else input * weight[0]
        return scaled if bias is None else scaled + bias[0]
    if training:
        _check_elements(input)
        if (running_mean is None) is not (running_var is None):
            raise ValueError(
                "running_mean and running_var must either both be None or neither be None"
            )
    elif running_mean is None or running_var is None:
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when training=False"
        )
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def _refuse_gradients(**statistics: Tensor | None) -> None:
    """Raise RuntimeError if running statistics require grad, which in training nothing reads."""
    for name, running in statistics.items():
        if running is not None and running.grad_node is not None and is_grad_enabled():
            raise must_be_constant("native_batch_norm", name, "it is updated and not read")


def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Apply `batch_norm`; return also mean and inverse deviation of the batch, empty if unused."""
    out, mean, invstd = _batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )
    if not training:
        empty = np.empty(0, input.array.dtype)
        return out, wrap(empty), wrap(empty)
    given = (weight, bias, running_mean, running_var, input)
    dtype = next(each.dtype for each in given if each is not None)
    mean, invstd = (each.detach().reshape(-1).to(dtype) for each in (mean, invstd))
    return out, mean, invstd


def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Apply `layer_norm`; return also mean and inverse deviation, which have no gradients."""
    out, mean, invstd = layers._native_layer_norm(input, normalized_shape, weight, bias, eps)
    return out, mean.detach(), invstd.detach()


def _batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    if training:
        _refuse_gradients(running_mean=running_mean, running_var=running_var)
    known = (None, None) if training else (running_mean, running_var)
    is_half = input.array.dtype == HALF
    if is_half:
        input, weight, bias = numbers._to_single(input), _single(weight), _single(bias)
        known = (_single(known[0]), _single(known[1]))
    out, mean, invstd = layers._native_batch_norm(input, weight, bias, *known, eps)
    out = out.to(HALF) if is_half else out
    if training and (running_mean is not None or running_var is not None):
        count = input.array.size // max(mean.array.size, 1)
        var = (invstd.array**-2 - eps) * (count / max(count - 1, 1))
        move(running_mean, mean.array, momentum)
        move(running_var, var, momentum)
    return out, mean, invstd


def _single(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else numbers._to_single(tensor)


def move(running: Tensor | None, observed: Any, momentum: float) -> None:
    """Move a running statistic towards the observed one."""
    if running is not None:
        new = (1 - momentum) * running.array + momentum * observed.reshape(-1)
        write(running, new)


def _check_elements(input: Tensor) -> None:
    shape = input.array.shape
    if len(shape) >= 2 and math.prod(shape) == shape[1]:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {list(shape)}"
        )


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Look up the rows of `weight` at the integers of `input`.

    With `max_norm` the rows that are read are first scaled down, in place, to that norm.
    NotImplementedError for sparse gradients.
    """
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    rows = weight.array.shape[0]
    if padding_idx is None:
        padding_idx = -1
    elif not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    else:
        padding_idx %= rows
    if max_norm is not None:
        bound = real_given("embedding", "max_norm", max_norm)
        _renormalize(weight, np.unique(input.array), bound, norm_type)
    return layers.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


@np.errstate(all="ignore")
def _renormalize(weight: Tensor, rows: Any, max_norm: float, norm_type: float) -> None:
    """Scale down those of the given rows whose norm is larger than `max_norm`."""
    norms = np.linalg.norm(weight.array[rows], norm_type, axis=1)
    large = norms > max_norm
    if large.any():
        values = weight.array.copy()
        values[rows[large]] *= (max_norm / (norms[large] + 1e-7))[:, None].astype(values.dtype)
        write(weight, values)


# ---- two answers


def max_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Take the maxima of windows of one dimension; with `return_indices` also their indices."""
    both = pooling.max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return both if return_indices else both[0]


def max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Take the maxima of windows of two dimensions; with `return_indices` also their indices."""
    both = pooling.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return both if return_indices else both[0]


def max_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Take the maxima of windows of three dimensions; with `return_indices` also their indices."""
    both = pooling.max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return both if return_indices else both[0]

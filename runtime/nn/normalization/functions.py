"""Normalisations of `nn.functional` that are composed of ops."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...core.tensor import Tensor
from ...generated import padding, pooling
from ...inplace.ops import write
from ...kernels.elementwise.checks import floating
from ...kernels.nn.normalization import check_normalized_shape
from ..composed import normalize_channels


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Divide the last dimensions by the root of their mean square, then scale them.

    `eps` is added to the mean square; by default it is the dtype's epsilon. The result has the
    dtype of `input`, also where that of `weight` is another.
    """
    floating("rms_norm", input.array)
    shape = tuple(normalized_shape)
    check_normalized_shape(input.array, shape, weight=None if weight is None else weight.array)
    dtype = input.array.dtype
    x = input.to(np.dtype(np.float32)) if dtype == np.float16 else input
    if eps is None:
        eps = float(np.finfo(x.array.dtype).eps)
    scale = (x.pow(2).mean(list(range(-len(shape), 0)), keepdim=True) + eps).rsqrt()
    normalized = (x * scale).to(dtype)
    if weight is None:
        return normalized
    found = normalized * weight
    return found if found.dtype == dtype else found.to(dtype)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Give each channel of each input mean 0 and variance 1, then scale and shift it.

    It is a batch normalisation in which every channel of every input is a channel of its own. The
    running statistics move towards the means of those of the inputs.
    """
    batch, channels, *sizes = input.shape
    if use_input_stats and math.prod(sizes) == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size {input.shape}"
        )
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    mean, var, scale, shift = (
        None if each is None else each.repeat(batch)
        for each in (running_mean, running_var, weight, bias)
    )
    one = input.reshape(1, batch * channels, *sizes)
    out = normalize_channels(one, mean, var, scale, shift, use_input_stats, momentum, eps)
    for running, moved in ((running_mean, mean), (running_var, var)):
        if running is not None and moved is not None:
            write(running, moved.array.reshape(batch, channels).mean(0))
    return out.view(input.shape)


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Divide each element by `(k + alpha m)**beta`, `m` the mean square of `size` channels.

    Channels before the first and after the last are zeros. ValueError without spatial dimensions.
    """
    if input.ndim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)"
        )
    if not input.array.size:
        return input
    squares = (input * input).reshape(input.shape[0], 1, input.shape[1], -1)
    padded = padding.constant_pad_nd(squares, (0, 0, size // 2, (size - 1) // 2))
    means = pooling.avg_pool2d(padded, (size, 1), 1).reshape(input.shape)
    return input / (means * alpha + k).pow(beta)

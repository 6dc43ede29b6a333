"""Initial values of parameters, written in place, by PyTorch's rules."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from ..core.missing import explaining as _explaining
from ..core.random_generator import generator
from ..core.tensor import Tensor
from ..core.user_warnings import warn
from ..inplace.ops import write

Array: TypeAlias = np.ndarray[Any, Any]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fill with uniform numbers between `a` and `b`."""
    return _filled(tensor, generator().uniform(a, b, tensor.array.shape))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fill with normal numbers of this mean and standard deviation."""
    return _filled(tensor, generator().normal(mean, std, tensor.array.shape))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with `val`."""
    return _filled(tensor, val)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return _filled(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return _filled(tensor, 1)


def eye_(tensor: Tensor) -> Tensor:
    """Fill with the identity matrix."""
    if tensor.array.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _filled(tensor, np.eye(*tensor.array.shape))


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the factor that restores the standard deviation after a nonlinearity.

    `param` is the negative slope of `leaky_relu`. ValueError for an unknown name.
    """
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    gains = {
        "linear": 1.0,
        "conv1d": 1.0,
        "conv2d": 1.0,
        "conv3d": 1.0,
        "sigmoid": 1.0,
        "tanh": 5 / 3,
        "relu": math.sqrt(2),
        "selu": 3 / 4,
    }
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}: one of {', '.join(gains)}")
    return gains[nonlinearity]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill uniformly with variance `2 gain² / (fan_in + fan_out)`: Glorot & Bengio (2010)."""
    bound = gain * math.sqrt(6 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill normally with variance `2 gain² / (fan_in + fan_out)`: Glorot & Bengio (2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(fans(tensor))))


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Fill uniformly with variance `gain² / fan`: He et al. (2015), slope `a` below zero."""
    if not tensor.array.size:
        warn("Initializing zero-element tensors is a no-op.")
        return tensor
    bound = math.sqrt(3) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Fill normally with variance `gain² / fan`: He et al. (2015), slope `a` below zero."""
    if not tensor.array.size:
        warn("Initializing zero-element tensors is a no-op.")
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity))


def fans(tensor: Tensor) -> tuple[int, int]:
    """Return `fan_in` and `fan_out` of a weight of shape (out, in, ...)."""
    shape = tensor.array.shape
    if len(shape) < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of fan_in, fan_out")
    fan_in, fan_out = fans(tensor)
    fan = fan_in if mode == "fan_in" else fan_out
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def _filled(tensor: Tensor, values: Array | float) -> Tensor:
    write(tensor, values)
    return tensor


__getattr__ = _explaining(__name__)

"""Initial values of parameters, written in place, by PyTorch's rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias

import numpy as np

from ..core.missing import explaining as _explaining
from ..core.random_draws import check_spread
from ..core.random_generator import drawing_from
from ..core.random_generator import generator as source
from ..core.tensor import Tensor
from ..core.user_warnings import warn
from ..dtypes.promotion import type_name
from ..inplace.ops import write

Array: TypeAlias = np.ndarray[Any, Any]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with uniform numbers between `a` and `b`. RuntimeError if `a` is the larger one."""
    _refuse_integers("uniform_", tensor)
    with drawing_from("uniform_", generator):
        if a > b:
            raise RuntimeError(f"uniform_ expects a range from a to b, but found a={a} > b={b}")
        return _filled(tensor, source().uniform(a, b, tensor.array.shape))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with normal numbers of this mean and standard deviation.

    RuntimeError if `std` is negative.
    """
    _refuse_integers("normal_", tensor)
    check_spread(std)
    with drawing_from("normal_", generator):
        return _filled(tensor, source().normal(mean, std, tensor.array.shape))


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Tensor:
    """Fill with normal numbers of which those outside of `[a, b]` are drawn again.

    RuntimeError if `std` is negative, or `a` larger than `b`.
    """
    _refuse_integers("trunc_normal_", tensor)
    check_spread(std)
    if a > b:
        raise RuntimeError(f"trunc_normal_ expects a <= b, but found a={a} and b={b}")
    if mean < a - 2 * std or mean > b + 2 * std:
        warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of "
            "values may be incorrect."
        )
    with drawing_from("trunc_normal_", generator):
        drawn = _truncated(tensor.array.size, (a - mean) / std, (b - mean) / std)
    return _filled(tensor, np.clip(mean + std * drawn, a, b).reshape(tensor.array.shape))


def _truncated(count: int, low: float, high: float) -> Array:
    """Draw standard normal numbers between two ends, by rejection.

    Where few of them lie there, uniform numbers are drawn, of which more are rejected where the
    density is less.
    """
    share = (math.erf(high / math.sqrt(2)) - math.erf(low / math.sqrt(2))) / 2
    nearest = min(max(low, 0.0), high)
    # Beyond that the density is less than the rounding of its value at the nearest point.
    low, high = max(low, -math.sqrt(nearest**2 + 80)), min(high, math.sqrt(nearest**2 + 80))
    found = np.empty(0)
    while found.size < count:
        if share > 0.1:
            drawn = source().standard_normal(2 * count + 8)
            kept = (low <= drawn) & (drawn <= high)
        else:
            drawn = source().uniform(low, high, 2 * count + 8)
            kept = source().random(drawn.size) < np.exp((nearest**2 - drawn**2) / 2)
        found = np.concatenate([found, drawn[kept]])
    return found[:count]


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill with a matrix of orthonormal rows or columns, all but the first dimension being one:
    Saxe et al. (2013)."""
    if tensor.array.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.array.size:
        return tensor
    rows = tensor.array.shape[0]
    columns = tensor.array.size // rows
    with drawing_from("orthogonal_", generator):
        drawn = source().standard_normal((rows, columns))
    q, r = np.linalg.qr(drawn if rows >= columns else drawn.T)
    signs = np.sign(np.diagonal(r))  # so that the matrix is drawn uniformly: Mezzadri (2006)
    q = q * signs
    return _filled(tensor, gain * (q if rows >= columns else q.T).reshape(tensor.array.shape))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution of 1 to 3 dimensions so that it passes channels on."""
    shape = tensor.array.shape
    if tensor.array.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    out_channels = shape[0] // groups
    values = np.zeros(shape)
    center = tuple(length // 2 for length in shape[2:])
    for group in range(groups):
        for channel in range(min(out_channels, shape[1])):
            values[(group * out_channels + channel, channel, *center)] = 1
    return _filled(tensor, values)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill with normal numbers, and a part of each column with zeros: Martens (2010)."""
    if tensor.array.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.array.shape
    zeros = math.ceil(sparsity * rows)
    with drawing_from("sparse_", generator):
        values = source().normal(0, std, (rows, columns))
        for column in range(columns):
            values[source().permutation(rows)[:zeros], column] = 0
    return _filled(tensor, values)


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

    `param` is the negative slope of `leaky_relu`. ValueError for an unknown name, and for a slope
    that is no number.
    """
    if nonlinearity == "leaky_relu":
        if isinstance(param, bool) or not isinstance(param, int | float | None):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    gains = {
        "linear": 1,
        **{f"conv{kind}{n}d": 1 for kind in ("", "_transpose") for n in (1, 2, 3)},
        "sigmoid": 1,
        "tanh": 5 / 3,
        "relu": math.sqrt(2),
        "selu": 3 / 4,
    }
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}: one of {', '.join(gains)}")
    return gains[nonlinearity]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill uniformly with variance `2 gain² / (fan_in + fan_out)`: Glorot & Bengio (2010)."""
    bound = gain * math.sqrt(6 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill normally with variance `2 gain² / (fan_in + fan_out)`: Glorot & Bengio (2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(fans(tensor))), generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Fill uniformly with variance `gain² / fan`: He et al. (2015), slope `a` below zero."""
    if not tensor.array.size:
        warn("Initializing zero-element tensors is a no-op.")
        return tensor
    bound = math.sqrt(3) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Fill normally with variance `gain² / fan`: He et al. (2015), slope `a` below zero."""
    if not tensor.array.size:
        warn("Initializing zero-element tensors is a no-op.")
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def fans(tensor: Tensor) -> tuple[int, int]:
    """Return `fan_in` and `fan_out` of a weight of shape (out, in, ...)."""
    shape = tensor.array.shape
    if len(shape) < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


_calculate_fan_in_and_fan_out = fans
"""PyTorch's name, which layers of one's own are initialized with."""


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """Return `fan_in` or `fan_out`, as `mode` says; ValueError for another mode."""
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of fan_in, fan_out")
    return fans(tensor)[mode == "fan_out"]


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def _refuse_integers(name: str, tensor: Tensor) -> None:
    if tensor.array.dtype.kind in "iub":
        raise NotImplementedError(f"{name} writes floats, but got {type_name(tensor.dtype)}")


def _filled(tensor: Tensor, values: Array | float) -> Tensor:
    write(tensor, values)
    return tensor


def _old_name(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a function under its first name, which warns of it."""
    name = function.__name__.removesuffix("_")

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Tensor:
        warn(f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning)
        return function(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    return call


uniform = _old_name(uniform_)
normal = _old_name(normal_)
constant = _old_name(constant_)
eye = _old_name(eye_)
dirac = _old_name(dirac_)
xavier_uniform = _old_name(xavier_uniform_)
xavier_normal = _old_name(xavier_normal_)
kaiming_uniform = _old_name(kaiming_uniform_)
kaiming_normal = _old_name(kaiming_normal_)
orthogonal = _old_name(orthogonal_)
sparse = _old_name(sparse_)

__getattr__ = _explaining(__name__)

"""Functions of one and of two elements, and points at which formulas break: zeros, limits ..."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

Function: TypeAlias = Callable[..., Any]
"""A function of a library (`torch` or `gradspec`) and its tensors."""

_OF_TENSORS = """
abs neg sign sgn floor ceil round trunc frac exp exp2 expm1 log log1p log2 log10 sqrt rsqrt
reciprocal square sin cos tan asin acos atan sinh cosh tanh asinh atanh erf erfc lgamma digamma
erfinv i0 deg2rad rad2deg logit nan_to_num sinc sigmoid relu angle selu signbit isnan
"""
_SPECIAL = "ndtr entr ndtri log_ndtr i0e i1 i1e"
_ACTIVATIONS = """
logsigmoid silu gelu softplus elu celu hardtanh relu6 hardswish mish hardshrink softshrink
softsign leaky_relu
"""
_BINARY = """
add sub mul div remainder fmod maximum minimum logaddexp pow xlogy atan2 hypot copysign fmax fmin
ldexp
"""
_LOSSES = "mse_loss l1_loss smooth_l1_loss huber_loss"


def _top(name: str) -> Function:
    return lambda lib, *x: getattr(lib, name)(*x)


def _special(name: str) -> Function:
    return lambda lib, *x: getattr(lib.special, name)(*x)


def _functional(name: str, **options: Any) -> Function:
    return lambda lib, *x: getattr(lib.nn.functional, name)(*x, **options)


UNARY: dict[str, Function] = {
    **{name: _top(name) for name in _OF_TENSORS.split()},
    **{name: _special(name) for name in _SPECIAL.split()},
    **{name: _functional(name) for name in _ACTIVATIONS.split()},
    "softplus up to 1": _functional("softplus", beta=2, threshold=1),
    "clamp": lambda lib, x: lib.clamp(x, -1.0, 2.0),
    "clamp of nan": lambda lib, x: lib.clamp(x, math.nan, 1.0),
    "threshold": _functional("threshold", threshold=0.5, value=2.0),
    "x ** 0": lambda lib, x: x**0,
    "x ** 0.5": lambda lib, x: x**0.5,
    "x ** -0.5": lambda lib, x: x**-0.5,
    "x ** 1": lambda lib, x: x**1,
    "x ** 2": lambda lib, x: x**2,
    "x ** 3": lambda lib, x: x**3,
    "x ** -1": lambda lib, x: x**-1,
    "x ** inf": lambda lib, x: x**math.inf,
    "2 ** x": lambda lib, x: 2**x,
    "1 / x": lambda lib, x: 1 / x,
    "x / 0": lambda lib, x: x / 0.0,
    "x * inf": lambda lib, x: x * math.inf,
    "xlogy(x, 2)": lambda lib, x: lib.xlogy(x, 2.0),
    "xlogy(0, x)": lambda lib, x: lib.xlogy(0.0, x),
    "xlogy(2, x)": lambda lib, x: lib.xlogy(2.0, x),
    "xlog1py(x, 2)": lambda lib, x: lib.special.xlog1py(x, 2.0),
    "copysign(x, -2)": lambda lib, x: lib.copysign(x, -2.0),
    "where": lambda lib, x: lib.where(x > 0, x, 0.0),
    "masked_fill": lambda lib, x: x.masked_fill(x > 0, math.inf),
}

BINARY: dict[str, Function] = {
    **{name: _top(name) for name in _BINARY.split()},
    **{name: _functional(name, reduction="none") for name in _LOSSES.split()},
    "xlog1py": _special("xlog1py"),
    "div, floor": lambda lib, x, y: lib.div(x, y, rounding_mode="floor"),
    "clamp, min": lambda lib, x, y: lib.clamp(x, min=y),
    "clamp, max": lambda lib, x, y: lib.clamp(x, max=y),
    "where": lambda lib, x, y: lib.where(x > y, x, y),
    "lerp": lambda lib, x, y: lib.lerp(x, y, 0.3),
    "huber_loss up to 0.5": _functional("huber_loss", reduction="none", delta=0.5),
    "smooth_l1_loss up to 0.5": _functional("smooth_l1_loss", reduction="none", beta=0.5),
}


def points(dtype: Any) -> np.ndarray[Any, Any]:
    """Zeros, breakpoints, and the ends of the range, each with both signs; nan."""
    limits = np.finfo(dtype)
    found = [0.0, 0.5, 1.0, 2.0, 3.0, 6.0, 20.0, limits.tiny, limits.smallest_subnormal, limits.max]
    positive = np.array([*found, math.inf], dtype)
    return np.concatenate([positive, -positive, np.array([math.nan], dtype)])


def pairs(dtype: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Pairs of zeros, small numbers, infinities and nan."""
    ends = np.array([0.0, 0.5, 1.0, 2.0, 3.0, math.inf], dtype)
    values = np.concatenate([ends, -ends, np.array([math.nan], dtype)])
    first, second = np.meshgrid(values, values)
    return first.ravel(), second.ravel()


def derivatives(lib: Any, function: Function, arrays: list[Any]) -> Iterator[tuple[str, Any]]:
    """The value; then for cotangents of one and of zero the gradients, and the gradients of these.

    Numbers of an array, each named `y`, `d0`, or `d0 d1`; `v` is the cotangent.
    """
    result = function(lib, *(lib.tensor(x) for x in arrays))
    yield "y", _numbers(result)
    if result.dtype not in (lib.float32, lib.float64):
        return
    for height in (1.0, 0.0):
        inputs = [lib.tensor(x).requires_grad_() for x in arrays]
        v = lib.full_like(inputs[0], height).requires_grad_()
        y = function(lib, *inputs)
        first = lib.autograd.grad(y, inputs, v, create_graph=True, allow_unused=True)
        for i, gradient in enumerate(first):
            if gradient is None:
                continue
            yield f"d{i}, v = {height}", _numbers(gradient)
            if not gradient.requires_grad:
                continue
            ones = lib.ones_like(gradient)
            second = lib.autograd.grad(
                gradient, [*inputs, v], ones, retain_graph=True, allow_unused=True
            )
            for j, found in zip([*range(len(inputs)), "v"], second, strict=True):
                if found is not None:
                    yield f"d{i} d{j}, v = {height}", _numbers(found)


def _numbers(tensor: Any) -> Any:
    """Convert to an array; the sum makes memory for PyTorch's zeros that have none."""
    return (tensor.detach() + 0).numpy()

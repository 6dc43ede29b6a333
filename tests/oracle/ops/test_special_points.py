"""Values, first and second derivatives at special points are PyTorch's, but for what is listed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import gradspec as gs

from .special_points import BINARY, UNARY, Function, derivatives, pairs, points

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

Array: TypeAlias = np.ndarray[Any, Any]
Where: TypeAlias = Callable[..., Any]

TINY = 1e-30
FAR = 1e30


def _nowhere(x: Array, *_: Array) -> Any:
    return np.zeros(x.shape, bool)


def _everywhere(x: Array, *_: Array) -> Any:
    return np.ones(x.shape, bool)


def _near_zero(x: Array, *_: Array) -> Any:
    return np.abs(x) < TINY


def _far(x: Array, *_: Array) -> Any:
    return np.abs(x) > FAR


def _tails(x: Array, *_: Array) -> Any:
    """Functions where PyTorch subtracts nearly equal numbers, or multiplies zero and infinity."""
    return (np.abs(x) >= 6) | np.isnan(x)


DIFFERENT: dict[str, tuple[str, Where]] = {
    # PyTorch takes the slope from the result, which has no digits left in the tails.
    "expm1": ("d", _tails),
    "tanh": ("d", _tails),
    "sigmoid": ("d", _tails),
    "logsigmoid": ("d0 d0", _tails),
    "silu": ("d0 d0", _tails),
    "mish": ("d0 d0", _tails),
    "gelu": ("", lambda x: _tails(x) | (x <= -3)),
    "ndtr": ("", _tails),
    "log_ndtr": ("d", _tails),
    # PyTorch multiplies zero and infinity, or has the wrong limit.
    "asinh": ("d0 d0", _far),
    "erf": ("d0 d0", _far),
    "erfc": ("d0 d0", _far),
    "hardswish": ("y", _far),
    "i0": ("d0 d0", _tails),
    "i0e": ("d", _far),
    "i1": ("d", _tails),
    "i1e": ("d", lambda x: _tails(x) | _near_zero(x)),
    # PyTorch divides zero by zero, and multiplies zero and infinity.
    "sinc": ("d", _near_zero),
    "copysign(x, -2)": ("d0 d0", lambda x: _near_zero(x) | ~np.isfinite(x)),
    "copysign": ("d0 d0", lambda x, y: _near_zero(x) | ~np.isfinite(x)),
    "logit": ("d", _near_zero),
    "logaddexp": ("d", lambda x, y: np.isinf(x) | np.isinf(y)),
    # At the poles PyTorch's trigamma is large, and here infinite.
    "lgamma": ("d0 d0", lambda x: (x <= -1) | _near_zero(x)),
    "digamma": ("d", lambda x: (x <= -1) | _near_zero(x) | np.isinf(x)),
    # A power of zero: the slope by the base grows with the exponent, by 1 / x.
    "pow": ("d", lambda x, y: (x == 0) | (y == 0) | ~np.isfinite(x)),
    "xlogy": ("d0 d1", lambda x, y: (x == 0) & (y == 0)),
    # A product with the number zero never changes; PyTorch divides zero by zero.
    "xlogy(0, x)": ("d", lambda x: x == 0),
    "xlog1py": ("d0 d1", lambda x, y: (x == 0) & (y == -1)),
    # Rounding: PyTorch's difference of squares is exactly zero. Far out the radius is scaled here.
    "atan2": ("d", lambda x, y: (np.abs(x) == np.abs(y)) | np.isinf(x) | np.isinf(y)),
    "hypot": ("d", lambda x, y: np.isinf(x) | np.isinf(y)),
    # Of nan both slopes are nan; here it is taken for a small difference when differentiated again.
    "smooth_l1_loss": ("d", lambda x, y: np.isnan(x - y)),
    "huber_loss": ("d", lambda x, y: np.isnan(x - y)),
    "smooth_l1_loss up to 0.5": ("d", lambda x, y: np.isnan(x - y)),
    "huber_loss up to 0.5": ("d", lambda x, y: np.isnan(x - y)),
}
"""The answers that may differ, by the beginning of their names, and at which points."""


ROUNDED: dict[str, tuple[Where, float]] = {
    # Exactly zero at whole numbers, where PyTorch has what its sine is rounded by.
    "sinc": (lambda x: (np.abs(x) < FAR) & (x == np.round(x)), 0.5),
}
"""Points at which values may differ by a multiple of the spacing of the floats at one."""

OVERFLOWING: dict[str, Where] = {
    # PyTorch's product with pi is infinite.
    "sinc": lambda x: np.isfinite(x) & _far(x),
}
"""Points at which PyTorch's nan is an overflow on the way."""


def _compare(name: str, function: Function, inputs: list[Array]) -> None:
    import torch

    mine = dict(derivatives(gs, function, inputs))
    theirs = dict(derivatives(torch, function, inputs))
    prefix, where = DIFFERENT.get(name, ("", _nowhere))
    limits = np.finfo(inputs[0].dtype)
    rtol = 1e-6 if limits.bits == 64 else 1e-4
    beyond = OVERFLOWING.get(name, _nowhere)(*inputs)
    is_rounded, share = ROUNDED.get(name, (_nowhere, 0.0))
    for label in sorted(mine.keys() | theirs.keys()):
        compared = ~where(*inputs) if label.startswith(prefix) else _everywhere(*inputs)
        compared &= ~beyond
        zeros = np.zeros(inputs[0].shape)
        found, expected = mine.get(label, zeros), theirs.get(label, zeros)
        if label == "y":
            error = np.abs(found - expected)
            compared &= ~(is_rounded(*inputs) & (error <= share * float(limits.eps)))
        np.testing.assert_allclose(
            found[compared],
            expected[compared],
            rtol,
            10 * float(limits.tiny),
            err_msg=f"{label} of {name} at {[x[compared].tolist() for x in inputs]}",
        )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", UNARY)
def test_of_one(name: str, dtype: Any) -> None:
    _compare(name, UNARY[name], [points(dtype)])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", BINARY)
def test_of_two(name: str, dtype: Any) -> None:
    _compare(name, BINARY[name], list(pairs(dtype)))


SIGNED = [
    *("relu", "relu6", "hardtanh", "softshrink", "hardshrink", "clamp", "logsigmoid", "erfinv"),
    *("sign", "round", "trunc", "sqrt", "x ** 0.5", "x * inf", "x ** 3"),
]


@pytest.mark.parametrize("name", SIGNED)
def test_signs_of_zeros(name: str) -> None:
    """Compute single elements: PyTorch's vector instructions answer differently for many."""
    import torch

    for value in (0.0, -0.0, 0.25, -0.25, 800.0, -800.0):
        mine = UNARY[name](gs, gs.tensor([value]))
        theirs = UNARY[name](torch, torch.tensor([value]))
        if not theirs.isnan():
            assert np.signbit(mine.numpy()) == np.signbit(theirs.numpy()), value


@pytest.mark.parametrize("name", ["remainder", "fmod", "maximum", "minimum", "clamp, min"])
def test_signs_of_zeros_of_two(name: str) -> None:
    import torch

    for x in (0.0, -0.0, 2.0, -2.0):
        for y in (0.0, -0.0, 2.0, -2.0):
            mine = BINARY[name](gs, gs.tensor([x]), gs.tensor([y]))
            theirs = BINARY[name](torch, torch.tensor([x]), torch.tensor([y]))
            if not theirs.isnan():
                assert np.signbit(mine.numpy()) == np.signbit(theirs.numpy()), (x, y)

"""Functions of numbers and special functions at points, dtypes and nodes of their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle

INF = math.inf
NAN = math.nan
FRACTIONS = (-INF, -2.5, -0.5, -0.0, 0.0, 0.5, 2.5, INF, NAN)
SPECIAL = (-INF, -2.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.5, INF, NAN)


def _slope(lib: Any, function: Callable[[Any], Any], *values: float) -> Any:
    """Values and gradients at some points."""
    x = leaf(lib, *(values or SPECIAL))
    out = function(x)
    out.sum().backward()
    return out, x.grad


def _slopes_apart(lib: Any, function: Callable[[Any], Any], *values: float) -> Any:
    """The same, point by point: what PyTorch does with many at once depends on the processor."""
    return [_slope(lib, function, value) for value in values or SPECIAL]


def _slopes(
    lib: Any, function: Callable[[Any, Any], Any], first: list[float], second: list[float]
) -> Any:
    """Values and both gradients at some points."""
    x, y = leaf(lib, *first), leaf(lib, *second)
    out = function(x, y)
    out.sum().backward()
    return out, x.grad, y.grad


def _polar(lib: Any, distances: list[float]) -> Any:
    distance, angle = leaf(lib, *distances), leaf(lib, 0.3, -2.0)
    out = lib.polar(distance, angle)
    (out.real * 2 + out.imag).sum().backward()
    return out, distance.grad, angle.grad


def _complex_sinc(lib: Any) -> Any:
    z = lib.tensor([0j, 1e-3 + 1e-3j, 0.5 - 2j], dtype=lib.complex128).requires_grad_()
    out = lib.sinc(z)
    (out.real + 2 * out.imag).sum().backward()
    return out, z.grad


def _dtypes(lib: Any, function: Callable[[Any], Any]) -> Any:
    given = ([1, 0], [True, False], [0.5, 1.0], [0.5 + 1j])
    return [attempt(lambda numbers=numbers: function(lib.tensor(numbers))) for numbers in given]


PAIRS = ([1.0, 2.0, NAN, 1.0, NAN, INF, 0.0], [1.0, 3.0, 1.0, NAN, NAN, INF, -0.0])
SIGNS = ([-1.0, -0.0, 0.0, 1.0, 1.0, NAN, 2.0, INF], [1.0, -1.0, 0.0, -0.0, -INF, 1.0, NAN, 1.0])

CALLS: dict[str, Callable[[Any], Any]] = {
    **{
        name: lambda lib, name=name: _slope(lib, getattr(lib, name))
        for name in (
            *("deg2rad", "rad2deg", "nan_to_num", "frac"),
            *("erfinv", "i0"),
        )
    },
    "logit": lambda lib: _slopes_apart(lib, lib.logit),
    "special.logit": lambda lib: _slopes_apart(lib, lib.special.logit),
    **{
        f"special.{name}": lambda lib, name=name: _slope(lib, getattr(lib.special, name))
        for name in ("entr", "ndtri", "i0e")
    },
    **{
        f"dtypes of {name}": lambda lib, name=name: _dtypes(lib, getattr(lib, name))
        for name in (
            *("deg2rad", "rad2deg", "logit", "nan_to_num", "frac", "signbit"),
            *("isposinf", "isneginf", "erfinv", "i0"),
        )
    },
    **{
        f"{name} of fractions": lambda lib, name=name: _slope(
            lib, lib.sinc if name == "sinc" else lib.special.sinc, *FRACTIONS
        )
        for name in ("sinc", "special.sinc")
    },
    "slope of sinc at whole numbers": lambda lib: _slope(lib, lib.sinc, -3.0, -1.0, 1.0, 2.0)[1],
    "dtypes of sinc": lambda lib: [
        str(lib.sinc(lib.tensor(numbers, dtype=dtype)).dtype).removeprefix("torch.")
        for numbers, dtype in (
            ([1, 0], lib.int64),
            ([True, False], lib.bool),
            ([0.5, 1.0], lib.float32),
            ([0.5 + 1j], lib.complex64),
        )
    ],
    "logit in bounds": lambda lib: _slopes_apart(
        lib, lambda x: lib.logit(x, 0.25), -1, 0, 0.25, 0.5, 0.75, 1, 2, NAN
    ),
    "logit in bounds that cross": lambda lib: _slope(
        lib, lambda x: lib.logit(x, eps=0.6), -1.0, 0.4, 0.5, 0.6, 1.0
    ),
    "logit in the unit interval": lambda lib: _slope(
        lib, lambda x: x.logit(0.0), -1.0, 0.0, 0.5, 1.0, 2.0
    ),
    "logit with a negative eps": lambda lib: _slopes_apart(lib, lambda x: lib.logit(x, -1.0)),
    "nan_to_num of choice": lambda lib: _slope(
        lib, lambda x: lib.nan_to_num(x, nan=1.0, posinf=2.0, neginf=3.0)
    ),
    "nan_to_num in place": lambda lib: lib.tensor([NAN, INF]).nan_to_num_(2.0),
    "nan_to_num of halves": lambda lib: lib.nan_to_num(
        lib.tensor([NAN, INF, -INF], dtype=lib.float16)
    ),
    "nan_to_num of complex numbers": lambda lib: lib.nan_to_num(
        lib.tensor([complex(NAN, INF)]), 1.0
    ),
    "sinc of complex numbers": _complex_sinc,
    "copysign": lambda lib: _slopes(lib, lib.copysign, *SIGNS),
    "copysign of a number": lambda lib: _slope(lib, lambda x: lib.copysign(x, -2)),
    "copysign of negative zero": lambda lib: _slope(lib, lambda x: x.copysign(-0.0)),
    "copysign of integers": lambda lib: lib.copysign(lib.tensor([1, -2]), -1),
    "copysign in place": lambda lib: lib.tensor([1.0, -2.0]).copysign_(lib.tensor([-1.0, 1.0])),
    "fmax": lambda lib: _slopes(lib, lib.fmax, *PAIRS),
    "fmin": lambda lib: _slopes(lib, lib.fmin, *PAIRS),
    "logaddexp2": lambda lib: _slopes(
        lib, lib.logaddexp2, [1.0, 2000.0, -INF, INF, NAN], [2.0, 0.0, -INF, 0.0, 1.0]
    ),
    "ldexp": lambda lib: _slopes(lib, lib.ldexp, [1.0, 2.0, 0.0, INF], [1.0, 2.5, 3.0, -1.0]),
    "ldexp beyond the powers": lambda lib: lib.ldexp(
        lib.tensor([1e-300, 1e300], dtype=lib.float64), lib.tensor([1500, -1500])
    ),
    "ldexp of integers": lambda lib: lib.ldexp(lib.tensor([1, 3]), lib.tensor([2, -1])),
    "float_power": lambda lib: lib.float_power(leaf(lib, 1.0, 2.0), leaf(lib, 2.0, 0.0)),
    "float_power by a number": lambda lib: leaf(lib, 1.0, 2.0).float_power(2),
    "float_power of a number": lambda lib: lib.float_power(2, leaf(lib, 1.0, 2.0)),
    "float_power of floats": lambda lib: lib.float_power(lib.tensor([1.5, 2.0]), 2),
    "float_power of integers": lambda lib: lib.float_power(lib.tensor([2, 3]), lib.tensor([2, -1])),
    "float_power of complex numbers": lambda lib: lib.float_power(lib.tensor([1j, 2]), 2),
    "float_power of numbers": lambda lib: attempt(lambda: lib.float_power(2, 3)),
    "nextafter": lambda lib: _slopes(
        lib, lib.nextafter, [1.0, 1.0, NAN, INF, 0.0], [2.0, 0.0, 1.0, 0.0, 1.0]
    ),
    "nextafter of integers": lambda lib: attempt(
        lambda: lib.nextafter(lib.tensor([1]), lib.tensor([2]))
    ),
    "fill": lambda lib: _slope(lib, lambda x: lib.fill(x, 2)),
    "fill of integers": lambda lib: lib.fill(lib.tensor([1, 2]), 2.5),
    "fill with a tensor": lambda lib: _slopes(lib, lambda x, y: lib.fill(x, y.sum()), [1, 2], [3]),
    "fill with a vector": lambda lib: attempt(
        lambda: lib.fill(lib.tensor([1.0]), lib.tensor([2.0]))
    ),
    "fill with a complex number": lambda lib: attempt(lambda: lib.fill(lib.tensor([1.0]), 1j)),
    "fill with a complex tensor": lambda lib: lib.fill(lib.tensor([1.0]), lib.tensor(2 + 1j)),
    "polar": lambda lib: _polar(lib, [1.0, 2.0]),
    "polar of integers": lambda lib: attempt(lambda: lib.polar(lib.tensor([1]), lib.tensor([1]))),
    "polar of two dtypes": lambda lib: attempt(
        lambda: lib.polar(lib.tensor([1.0]), lib.tensor([1.0], dtype=lib.float64))
    ),
    "isclose": lambda lib: [
        lib.isclose(lib.tensor([1.0, 1.0, INF, INF, NAN]), given, equal_nan=equal_nan)
        for given in [lib.tensor([1.000001, 1.1, INF, -INF, NAN])]
        for equal_nan in (False, True)
    ],
    "isclose of integers": lambda lib: lib.isclose(
        lib.tensor([100, 2]), lib.tensor([101, 4]), rtol=0.01
    ),
    "isclose of two dtypes": lambda lib: attempt(
        lambda: lib.isclose(lib.tensor([1.0]), lib.tensor([1]))
    ),
    "isclose below nothing": lambda lib: attempt(
        lambda: lib.isclose(lib.tensor([1.0]), lib.tensor([1.0]), atol=-1)
    ),
    "infinities": lambda lib: [
        getattr(lib, name)(lib.tensor(SPECIAL)) for name in ("isposinf", "isneginf", "signbit")
    ],
    "gcd and lcm": lambda lib: [
        function(lib.tensor([12, -4, 0, 0]), lib.tensor([18, 6, 5, 0]))
        for function in (lib.gcd, lib.lcm)
    ],
    "gcd of floats": lambda lib: attempt(lambda: lib.gcd(lib.tensor([1.0]), lib.tensor([1.0]))),
    "lcm of bools": lambda lib: attempt(lambda: lib.lcm(lib.tensor([True]), lib.tensor([True]))),
    "erfcx": lambda lib: _slope(lib, lib.special.erfcx, -INF, -40.0, -1.0, 0.0, 0.5, 40.0, NAN),
    "log_ndtr": lambda lib: _slope(lib, lib.special.log_ndtr, -40.0, -1.0, 0.0, 40.0, INF, NAN),
    "i1": lambda lib: _slope(lib, lib.special.i1, -INF, -40.0, -1.0, -0.0, 0.0, 1.0, INF),
    "i1e": lambda lib: _slope(lib, lib.special.i1e, -INF, -40.0, -1.0, -0.0, 0.0, 1.0, INF),
    "xlog1py": lambda lib: _slopes(
        lib,
        lib.special.xlog1py,
        [0.0, 0.0, 0.0, 1.0, 2.0, -0.0, NAN],
        [1.0, -2.0, NAN, -1.0, 3.0, INF, 1.0],
    ),
    "xlog1py of a number": lambda lib: _slope(lib, lambda x: lib.special.xlog1py(2, x), 0.5, -1.0),
    "xlog1py by a number": lambda lib: _slope(lib, lambda x: lib.special.xlog1py(x, 3), 0.0, 2.0),
    "xlog1py by minus two": lambda lib: _slope(
        lib, lambda x: lib.special.xlog1py(x, -2), 0.0, 2.0, NAN
    ),
    "xlog1py of floats": lambda lib: [
        lib.special.xlog1py(lib.tensor([1.0, 2.0]), 2.5),
        lib.special.xlog1py(2, lib.tensor([1, 2])),
    ],
}


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid", "ignore:divide")
@pytest.mark.parametrize("text", CALLS)
def test_same(text: str) -> None:
    import torch

    assert_same(CALLS[text], torch)


def test_the_slope_of_sinc_near_zero_is_that_of_its_series() -> None:
    """`-pi**2 x / 3`: the difference that the slope is has no digits left."""
    x = leaf(gs, 1e-9, -1e-200, 1e-5)
    gs.sinc(x).sum().backward()
    expected = -(math.pi**2) / 3 * x.detach().numpy()
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-9, atol=0)


def test_the_second_slope_of_sinc_at_zero() -> None:
    x = leaf(gs, 0.0, 1e-9)
    (slope,) = gs.autograd.grad(gs.sinc(x).sum(), x, create_graph=True)
    (bend,) = gs.autograd.grad(slope.sum(), x)
    np.testing.assert_allclose(bend.numpy(), [-(math.pi**2) / 3] * 2, rtol=1e-12)


def test_the_slope_of_erfcx_far_out_is_that_of_its_series() -> None:
    """`-1 / (sqrt(pi) x**2)` and smaller terms, zero at infinity."""
    x = leaf(gs, 1e8, 1e200, INF)
    gs.special.erfcx(x).sum().backward()
    expected = [-1e-16 / math.sqrt(math.pi), 0.0, 0.0]
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-14)


def test_ndtr_is_exact_in_the_lower_tail() -> None:
    assert gs.special.ndtr(leaf(gs, -10.0)).item() == pytest.approx(7.61985302416047e-24, rel=1e-12)


def test_the_gradient_of_polar_has_the_sign_of_the_distance() -> None:
    """The derivative by the distance is the direction, also where the distance is not positive."""
    distance, angle = leaf(gs, -2.0, 0.0), leaf(gs, 0.3, 0.3)
    gs.polar(distance, angle).real.sum().backward()
    np.testing.assert_allclose(distance.grad.numpy(), [math.cos(0.3)] * 2, rtol=1e-14)

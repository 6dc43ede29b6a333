"""The normal distribution in float32, against 50 digits, and gelu made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import special

import gradspec as gs
from gradspec.compiler.c import build, source_of
from gradspec.compiler.program import Program, Step, Value
from gradspec.kernels import gaussian

from .recorded import assert_close

rng = np.random.default_rng(0)
POINTS = np.concatenate(
    [
        rng.uniform(-16, 16, 200_000),
        rng.uniform(-1, 1, 100_000),
        rng.standard_normal(20_000) * 10.0 ** rng.integers(-44, 2, 20_000),
        np.linspace(-14.6, -12.5, 20_000),
    ]
).astype(np.float32)
ENDS = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38, -3e38], np.float32)
TINY = float(np.finfo(np.float32).smallest_subnormal)

Call = tuple[str, tuple[float, ...]]
"""A kernel, and the numbers that it takes after the points."""

FUNCTIONS: dict[Call, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    ("normal_cdf", ()): (special.ndtr, mpmath.ncdf),
    ("gaussian", (0.5,)): (lambda x: np.exp(-x * x / 2), lambda x: mpmath.exp(-x * x / 2)),
    ("gaussian", (1,)): (lambda x: np.exp(-x * x), lambda x: mpmath.exp(-x * x)),
}


def program_of(call: Call, points: Any) -> Program:
    """The kernel as the only step."""
    given, made = (Value(name, points.shape, points.dtype, points.strides) for name in "xy")
    step = Step(f"kernels.{call[0]}", (given, *call[1]), {}, (made,))
    return Program((given,), (), (step,), (made,))


def run(call: Call, points: Any) -> Any:
    """The results of the kernel as C."""
    return build(program_of(call, points))(points)[0]


def errors(found: Any, wanted: Any) -> Any:
    """Units in the last place of float32 between the numbers found and those wanted in float64."""
    exponents = np.floor(np.log2(np.maximum(np.abs(wanted), 1e-300)))
    return np.abs(found - wanted) / np.maximum(2.0 ** (exponents - 23), TINY)


@pytest.mark.parametrize("call", FUNCTIONS)
def test_many_points(call: Call) -> None:
    wanted, _ = FUNCTIONS[call]
    found = run(call, POINTS)
    assert found.dtype == np.float32
    assert errors(found.astype(np.float64), wanted(POINTS.astype(np.float64))).max() < 0.7


@pytest.mark.parametrize("call", FUNCTIONS)
def test_some_points_with_50_digits(call: Call) -> None:
    _, exact = FUNCTIONS[call]
    points = POINTS[:: len(POINTS) // 2000]
    found = run(call, points)
    with mpmath.workdps(50):
        wanted = np.array([float(exact(mpmath.mpf(float(x)))) for x in points])
    assert errors(found.astype(np.float64), wanted).max() < 0.7


def test_ends() -> None:
    wanted = [0.5, 0.5, 1, 0, np.nan, 0.5, 0.5, 1, 0]
    np.testing.assert_array_equal(run(("normal_cdf", ()), ENDS), wanted)
    for rate in (0.5, 1):
        wanted = [1, 1, 0, 0, np.nan, 1, 1, 0, 0]
        np.testing.assert_array_equal(run(("gaussian", (rate,)), ENDS), wanted)


@pytest.mark.parametrize("rate", [0.5, 1, 2.5])
def test_gaussians_in_float64(rate: float) -> None:
    points = np.concatenate([rng.standard_normal(1000) * 5, ENDS])
    with np.errstate(all="ignore"):
        assert_close(run(("gaussian", (rate,)), points), gaussian(points, rate), 4)


def test_other_gaussians_in_float32_are_those_of_the_kernel() -> None:
    np.testing.assert_array_equal(run(("gaussian", (2.5,)), POINTS), gaussian(POINTS, 2.5))


def test_functions_of_the_program_stand_for_those_of_libm() -> None:
    text = source_of(program_of(("normal_cdf", ()), POINTS))
    assert "gs_ndtrf(" in text
    assert "gs_erfc(" not in text


@pytest.mark.parametrize("name", ["gelu", "erf", "erfc", "ndtr"])
def test_values_and_gradients(name: str) -> None:
    """Those of float32 are, within a few ulp of their parts, those of float64."""
    functions: dict[str, Callable[[gs.Tensor], gs.Tensor]] = {
        "gelu": gs.nn.functional.gelu,
        "erf": gs.erf,
        "erfc": gs.erfc,
        "ndtr": gs.special.ndtr,
    }

    def both(x: gs.Tensor) -> tuple[gs.Tensor, gs.Tensor]:
        y = functions[name](x)
        return y, gs.autograd.grad(y.sum(), [x])[0]

    array = np.linspace(-6, 6, 5001, dtype=np.float32)
    x = gs.tensor(array, requires_grad=True)
    exact = both(gs.tensor(array.astype(np.float64), requires_grad=True))
    compiled = gs.compile(both, backend="c")(x)
    eager = both(x)
    for found, same, wanted in zip(compiled, eager, exact, strict=True):
        np.testing.assert_allclose(found.detach(), wanted.detach(), rtol=1e-6, atol=2e-7)
        np.testing.assert_allclose(found.detach(), same.detach(), rtol=1e-5, atol=5e-7)

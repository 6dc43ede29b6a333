"""Sines and cosines that are computed together, block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import gradspec as gs
from gradspec.compiler.c import nests
from tests.runtime.compiler.comparing import assert_same

Instruction = tuple[int, int, int]
"""Function, and the two of the values so far that it takes."""


def _overwritten_between(a: Any, b: Any) -> Any:
    a = a.detach() * 1
    sine = a.sin()
    a.mul_(b.detach())
    return sine + a.cos()


def _overwritten_after(a: Any, b: Any) -> Any:
    a = a.detach() * 1
    both = a.sin() * a.cos()
    a.mul_(b.detach())
    return both + a


FUNCTIONS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a.sin(),
    lambda a, b: a.cos() + b,
    lambda a, b: a.sin() * a.cos(),
    lambda a, b: a * b,
    lambda a, b: gs.where(a > b, b.sin(), a),
    lambda a, b: a.sum(1, keepdim=True) + b[:1],
    lambda a, b: a - a.mean(),
    lambda a, b: a.t().contiguous().t(),
    lambda a, b: gs.cat([a.sin()[:2], a.cos()[2:]]),
    _overwritten_between,
    _overwritten_after,
]


def interpreted(program: list[Instruction]) -> Callable[..., Any]:
    """The values and gradients that a list of instructions stands for."""

    def run(x: Any, y: Any) -> Any:
        values = [x, y]
        for which, first, second in program:
            values.append(FUNCTIONS[which](values[-1 - first % len(values)], values[-second % 2]))
        loss = (values[-1] * values[-2] + x * y).sum()
        return loss, values[-1] * 1, *gs.autograd.grad(loss, [x, y], allow_unused=True)

    return run


def drawn(seed: int, shape: tuple[int, ...], dtype: Any) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [gs.from_numpy(rng.normal(size=shape).astype(dtype)).requires_grad_() for _ in range(2)]


@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    program=st.lists(
        st.tuples(st.integers(0, len(FUNCTIONS) - 1), st.integers(0, 2), st.integers(0, 1)),
        min_size=2,
        max_size=8,
    )
)
def test_programs_in_stages_are_eager_nearly(program: list[Instruction]) -> None:
    function = interpreted(program)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nests, "BLOCK", 4)  # so that few points are several blocks and a rest
        compiled = gs.compile(function, backend="c")
        compiled(*drawn(0, (5, 7), np.float64))
    inputs = drawn(1, (5, 7), np.float64)
    assert_same(compiled(*inputs), function(*inputs), 1e-11)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("length", [63, 64, 65, 1000, 5000])
def test_a_chain_of_any_length_is_eager_nearly(length: int, dtype: Any) -> None:
    def chain(x: Any, y: Any) -> Any:
        value = x
        for _ in range(4):
            value = (value * y).sin() + x
        return value.sum()

    function = gs.func.grad_and_value(chain, argnums=(0, 1))
    compiled = gs.compile(function, backend="c")
    inputs = drawn(2, (length,), dtype)
    assert ("gs_sincos" in str(gs.compiler.explain(compiled, *inputs))) == (length >= 64)
    rtol = 1e-12 if dtype is np.float64 else 2e-4
    assert_same(compiled(*inputs), function(*inputs), rtol)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sines_and_cosines_are_within_two_units_in_the_last_place(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    quarters = np.arange(-500, 500) * (np.pi / 4)
    angles = [rng.uniform(-7, 7, 500), rng.uniform(-65536, 65536, 500), quarters]
    angles += [10.0 ** rng.uniform(-30, 4, 300), rng.uniform(-1e9, 1e9, 100)]
    angles += [[65536, -65537, 3e38, np.finfo(dtype).tiny]]
    x = np.concatenate(angles).astype(dtype)
    both = gs.compile(lambda x: (x.sin() * 1, x.cos() * 1), backend="c")
    with mpmath.workdps(60):
        for found, exact in zip(both(gs.from_numpy(x)), (mpmath.sin, mpmath.cos), strict=True):
            for angle, value in zip(x, found.numpy(), strict=True):
                true = exact(mpmath.mpf(float(angle)))
                unit = np.spacing(np.abs(dtype(float(true))))
                assert abs(mpmath.mpf(float(value)) - true) <= 2 * float(unit), angle


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_no_angle_is_no_number_and_zeros_keep_their_sign(dtype: Any) -> None:
    x = np.zeros(70, dtype)
    x[:4] = [-0.0, np.inf, -np.inf, np.nan]
    sines, cosines = gs.compile(lambda x: (x.sin() * 1, x.cos() * 1), backend="c")(gs.from_numpy(x))
    np.testing.assert_array_equal(np.signbit(sines.numpy()[[0, 4]]), [True, False])
    np.testing.assert_array_equal(np.isnan(sines.numpy()), ~np.isfinite(x))
    np.testing.assert_array_equal(np.isnan(cosines.numpy()), ~np.isfinite(x))
    np.testing.assert_array_equal(cosines.numpy()[4:], 1)

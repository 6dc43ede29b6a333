"""Sines and cosines of many elements: as exact as the module says, wherever the argument lies."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest

import gradspec as gs
from gradspec.fast import sines as elementwise
from gradspec.fast.parallel_for import BLOCK, in_blocks
from gradspec.fast.sines import (
    SEVERAL,
    cosine,
    cosine_and_sine,
    sine,
    sine_and_cosine,
    slope_of_sine,
)

WAYS = {
    "sin": (np.sin, elementwise._sine, mpmath.sin, 3),
    "cos": (np.cos, elementwise._cosine, mpmath.cos, 4),
}
OFF = 2.0**-51
"""How far the slope of a sine may be off, whatever it is itself."""


def arguments() -> np.ndarray:
    """Of every magnitude; and the floats beside multiples of a quarter turn, where zeros are."""
    rng = np.random.default_rng(0)
    spread = rng.choice([-1.0, 1.0], 1500) * 10 ** rng.uniform(-20, 10, 1500)
    turns = np.arange(-300, 301) * (np.pi / 2)
    tiny = np.array([0.0, 5e-324, -1e-310, -1e-150, 1e-150, 1e-170])
    return np.concatenate([spread, turns, np.nextafter(turns, np.inf), tiny])


@pytest.mark.parametrize("name", WAYS)
def test_errors_are_a_few_units_in_the_last_place(name: str) -> None:
    _, step, exact, units = WAYS[name]
    x = arguments()
    check_errors(exact, units, x, in_blocks(step, x))


@pytest.fixture
def quick_tangents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sines by tangents on every machine."""
    monkeypatch.setattr(elementwise, "_tangent_is_quick", lambda: True)


@pytest.mark.usefixtures("quick_tangents")
def test_errors_of_what_is_computed_for_gradients() -> None:
    x = arguments()
    sines, slopes = sine_and_cosine(x, True)
    assert np.array_equal(sines, sine(x))
    assert np.array_equal(slopes, slope_of_sine(x))
    with mpmath.workdps(60):
        for value, slope in zip(x, slopes, strict=True):
            assert abs(mpmath.mpf(float(slope)) - mpmath.cos(mpmath.mpf(float(value)))) < OFF
    cosines, slopes = cosine_and_sine(x, True)
    assert np.array_equal(cosines, cosine(x))
    is_normal = np.abs(x) > 1e-300
    check_errors(mpmath.sin, 6, x[is_normal], slopes[is_normal])


@pytest.mark.usefixtures("quick_tangents")
@pytest.mark.parametrize("together", [sine_and_cosine, cosine_and_sine])
def test_nothing_is_kept_that_nobody_reads_or_that_is_large(together: Callable) -> None:
    x = np.linspace(0, 2, SEVERAL)
    assert together(x, True)[1] is not None
    assert together(x, False)[1] is None
    large = np.ones(elementwise._LITTLE + 1)
    assert together(large, True)[1] is None


def check_errors(exact: Callable, units: int, x: np.ndarray, found: np.ndarray) -> None:
    with mpmath.workdps(60):
        for value, got in zip(x, found, strict=True):
            wanted = exact(mpmath.mpf(float(value)))
            # Half a unit more, for `wanted` is not rounded to a float.
            slack = (units + 0.5) * mpmath.mpf(float(np.spacing(abs(float(wanted)))))
            assert abs(mpmath.mpf(float(got)) - wanted) <= slack, repr(value)


@pytest.mark.parametrize("name", WAYS)
def test_what_is_no_number_has_none(name: str) -> None:
    function, step, _, _ = WAYS[name]
    x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0])
    with np.errstate(invalid="ignore"):
        found, wanted = in_blocks(step, x), function(x)
    assert np.array_equal(found, wanted, equal_nan=True)
    assert np.array_equal(np.signbit(found[3:]), np.signbit(wanted[3:]))


@pytest.mark.parametrize("size", [SEVERAL, 3 * BLOCK + 5, (1 << 19) + 1])
@pytest.mark.parametrize("name", WAYS)
def test_large_arrays_have_the_values_of_small_ones(name: str, size: int) -> None:
    function = WAYS[name][0]
    x = np.random.default_rng(1).uniform(-30, 30, size)
    found = {"sin": sine, "cos": cosine}[name](x)
    np.testing.assert_array_max_ulp(found, function(x), 6)


def test_small_numbers_raise_no_flag() -> None:
    with np.errstate(all="raise"):
        sine(np.full(SEVERAL, 1e-200))
        cosine(np.full(SEVERAL, 1e-200))


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.astype(np.float32),
        lambda x: x[: SEVERAL - 1],
        lambda x: x + 1j,
    ],
    ids=["float32", "small", "complex"],
)
def test_other_arrays_are_left_to_numpy(change: Callable[[np.ndarray], np.ndarray]) -> None:
    x = change(np.random.default_rng(2).uniform(-3, 3, SEVERAL))
    for ours, theirs in ((sine, np.sin), (cosine, np.cos)):
        found = ours(x)
        assert found.dtype == x.dtype
        assert np.array_equal(found, theirs(x))


@pytest.mark.usefixtures("quick_tangents")
@pytest.mark.parametrize("size", [2 * SEVERAL, 2 * BLOCK])
def test_other_layouts(size: int) -> None:
    x = np.random.default_rng(2).uniform(-3, 3, 2 * size)
    before = x.copy()
    for laid in (x[::2], x.reshape(2, -1).T, x.reshape(-1, 4)[:, 1:3]):
        for ours, theirs in ((sine, np.sin), (cosine, np.cos)):
            found = ours(laid)
            assert found.strides == theirs(laid).strides
            assert np.array_equal(found, ours(np.ascontiguousarray(laid)))
        assert np.array_equal(slope_of_sine(laid), slope_of_sine(laid.copy()))
    assert np.array_equal(x, before)


@pytest.mark.usefixtures("quick_tangents")
@pytest.mark.parametrize("size", [SEVERAL - 1, SEVERAL, elementwise._LITTLE + 1])
@pytest.mark.parametrize("zero", [False, True])
def test_gradients_of_arrays_of_all_sizes(size: int, zero: bool) -> None:
    data = np.random.default_rng(3).uniform(-3, 3, size)
    data[5] = 0.0 if zero else 1.0
    x = gs.tensor(data, requires_grad=True)
    x.sin().sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos(data), rtol=0, atol=OFF)
    x = gs.tensor(data, requires_grad=True)
    x.cos().sum().backward()
    np.testing.assert_array_max_ulp(x.grad.numpy(), -np.sin(data), 8)


@pytest.mark.usefixtures("quick_tangents")
def test_what_hooks_make_of_a_saved_value_is_what_the_gradient_reads() -> None:
    data = np.random.default_rng(4).uniform(1, 2, SEVERAL)
    x = gs.tensor(data, requires_grad=True)
    with gs.autograd.graph.saved_tensors_hooks(lambda saved: saved * 2, lambda packed: packed):
        x.sin().sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos(2 * data), rtol=0, atol=OFF)


@pytest.mark.usefixtures("quick_tangents")
def test_second_derivatives_of_a_large_array() -> None:
    data = np.random.default_rng(5).uniform(-3, 3, SEVERAL)
    x = gs.tensor(data, requires_grad=True)
    (first,) = gs.autograd.grad(x.sin().sum(), x, create_graph=True)
    (second,) = gs.autograd.grad(first.sum(), x)
    np.testing.assert_array_max_ulp(second.numpy(), -np.sin(data), 8)


@pytest.mark.usefixtures("quick_tangents")
def test_somebody_who_wants_to_hear_of_underflow_hears_of_none() -> None:
    x = np.full(SEVERAL, 1e-200)
    with np.errstate(all="raise"):
        assert sine(x).tolist() == x.tolist()
        assert sine_and_cosine(x, True)[0].tolist() == x.tolist()
        assert slope_of_sine(x).tolist() == [1.0] * SEVERAL

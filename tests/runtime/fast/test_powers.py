"""Powers with a number as exponent: as exact as NumPy's, for bases of both signs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradspec as gs
from gradspec.fast.powers import power

EXPONENTS = (-7, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 8, 21, 3.0, -4.0)


def bases(dtype: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    return (rng.choice([-1.0, 1.0], 400) * 2.0 ** rng.uniform(-3, 3, 400)).astype(dtype)


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [3, 400])
def test_errors_are_a_few_units_in_the_last_place(exponent: float, dtype: str, size: int) -> None:
    x = bases(dtype)[:size]
    got = power(x, exponent)
    assert got.dtype == x.dtype
    for base, value in zip(x.tolist(), got.tolist(), strict=True):
        exact = Fraction(base) ** int(exponent)
        assert abs(Fraction(value) - exact) <= 4 * Fraction(
            float(abs(np.spacing(x.dtype.type(exact))))
        )


@pytest.mark.parametrize("exponent", [*EXPONENTS, 2.5, np.inf, np.nan, -np.inf])
def test_limits_are_those_of_ieee(exponent: float) -> None:
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0, -2.0, 1e-300, -1e-300, 1e300]
    x = np.repeat(np.array(special), 3)
    with np.errstate(all="ignore"):
        expected = np.array([np.float64(base) ** exponent for base in x.tolist()])
        got = power(x, exponent)
    np.testing.assert_array_equal(got, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(expected)[numbers])


@given(st.integers(-6, 6), st.sampled_from(["int16", "int64", "complex64", "float16", "object"]))
def test_other_dtypes_are_numpys(exponent: int, dtype: str) -> None:
    x = np.arange(1, 40).astype(dtype)
    if dtype.startswith("int"):
        exponent = abs(exponent)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(power(x, exponent), x**exponent)


@pytest.mark.parametrize("exponent", [3, -3, 4])
def test_large_and_spread_out_arrays(exponent: int) -> None:
    x = np.linspace(-2, 2, 140_014).reshape(2, -1)
    expected = np.sign(x) ** (exponent % 2) * np.abs(x) ** exponent
    np.testing.assert_allclose(power(x, exponent), expected, rtol=1e-15)
    np.testing.assert_allclose(power(x.T, exponent), expected.T, rtol=1e-15)
    assert (x == np.linspace(-2, 2, x.size).reshape(2, -1)).all()


@pytest.mark.parametrize("exponent", [3.0, -4.0, 2.5])
def test_an_exponent_without_dimensions_is_a_number(exponent: float) -> None:
    x = np.linspace(0.5, 2, 40)
    np.testing.assert_array_equal(power(x, np.array(exponent)), power(x, exponent))
    single = x.astype(np.float32)
    mixed = power(single, np.array(exponent))
    assert mixed.dtype == (single ** np.array(exponent)).dtype == np.float64


def test_other_exponents_are_numpys() -> None:
    x = np.linspace(0.5, 2, 40)
    exponent: Any
    for exponent in (np.arange(40.0), 1j, 3 + 0j, True, np.float32(3.5), np.int64(-2)):
        found = power(x, exponent)
        assert found.dtype == (x**exponent).dtype
        np.testing.assert_allclose(found, x**exponent, rtol=1e-15)


def test_the_gradient_of_a_fourth_power() -> None:
    x = gs.tensor(np.linspace(-2, 2, 64), requires_grad=True)
    (x**4).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 4 * np.linspace(-2, 2, 64) ** 3, rtol=1e-14)


def test_an_inverse_root_is_that_of_ieee() -> None:
    x = np.array([4.0, 0.0, -0.0, np.inf, -np.inf])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(power(x, -0.5), [0.5, np.inf, -np.inf, 0.0, np.nan])
        np.testing.assert_array_equal(power(x, 0.5), [2.0, 0.0, -0.0, np.inf, np.nan])


def test_an_array_as_exponent_is_a_power_of_c() -> None:
    """In C the root of minus infinity is infinite, and zero loses its sign."""
    x = np.array([4.0, -0.0, -np.inf])
    with np.errstate(all="ignore"):
        found = power(x, np.array(0.5))
    np.testing.assert_array_equal(found, [2.0, 0.0, np.inf])
    assert not np.signbit(found).any()

"""Elementwise functions of numbers that have special values, or that refuse some dtypes."""

from __future__ import annotations

from math import factorial
from typing import Any, Final

import numpy as np

from ...core import constants
from ...core.dtype_kinds import COMPLEX_KINDS, REAL_KINDS, is_symbolic
from ...core.number_conversion import converted
from ...core.type_promotion import type_name
from ...core.types import Number
from ...fast import scipy_special
from ...fast.parallel_for import in_threads
from . import complex_numbers
from .checks import Array, floating, same_dtype


def logit(self: Array, eps: float | None) -> Any:
    """`log(x / (1 - x))`; what lies outside of `[eps, 1 - eps]` is moved to the bound first."""
    if eps is not None and eps >= 0:
        self = np.where(self < eps, eps, np.where(self > 1 - eps, 1 - eps, self))
    return in_threads(scipy_special.logit, self)


def nan_to_num(self: Array, nan: float | None, posinf: float | None, neginf: float | None) -> Any:
    """Numbers in the place of nan and of infinities; of complex numbers in both parts."""
    return np.nan_to_num(self, True, 0.0 if nan is None else nan, posinf, neginf)


@np.errstate(all="ignore")
def sinc(self: Array) -> Any:
    """`sin(pi x) / (pi x)`; a half has too few digits for the multiples of pi."""
    if self.dtype == np.float16:
        return np.sinc(self.astype(np.float32)).astype(np.float16)
    return np.sinc(self)


_SINC_SLOPE: Final = [
    (-1) ** k * 2 * k / factorial(2 * k + 1) * np.pi for k in reversed(range(1, 10))
]
"""Of `cos(z) / z - sin(z) / z**2` times pi as a series in odd powers of `z`, highest power first;
nine terms have all digits up to `z = 1`."""


@np.errstate(all="ignore")
def sinc_slope(self: Array) -> Any:
    """The derivative of sinc; the difference that it is would lose all digits near zero."""
    if is_symbolic(self.dtype):
        return (np.cos(constants.pi * self) - np.sinc(self)) / self
    is_near = np.abs(self) < 1 / np.pi
    near = np.where(is_near, self, 0) * np.pi
    far = np.where(is_near, 1, self)
    square = near * near
    series = np.zeros_like(near)
    for coefficient in _SINC_SLOPE:
        series = series * square + coefficient
    return np.where(is_near, series * near, (np.cos(np.pi * far) - np.sinc(far)) / far)


def frac(self: Array) -> Any:
    """What `trunc` takes away, of floats only."""
    floating("frac_cpu", self)
    return self - np.trunc(self)


def ldexp(self: Array, other: Array) -> Any:
    """`self * 2 ** other`, by two factors: neither overflows where the product does not."""
    if other.dtype.kind != "f":
        return self * np.exp2(other)
    half = np.trunc(np.clip(other, -2000, 2000) / 2)  # beyond these all is zero or infinite
    return self * np.exp2(half) * np.exp2(other - half)


def logaddexp2(self: Array, other: Array) -> Any:
    """Logarithms to base two of sums of powers of two, of floats only."""
    floating("logaddexp2_cpu", self)
    return in_threads(np.logaddexp2, self, other)


def nextafter(self: Array, other: Array) -> Any:
    """The neighbours of floats."""
    floating("nextafter_cpu", self)
    return np.nextafter(self, other)


def fill(self: Array, value: Number) -> Any:
    """One number everywhere; RuntimeError for a complex one that the dtype cannot hold."""
    if isinstance(value, complex) and self.dtype.kind not in COMPLEX_KINDS:
        raise RuntimeError(f"value cannot be converted to type {self.dtype} without overflow")
    return np.full_like(self, converted(value, self.dtype))


def fill_with(self: Array, value: Array) -> Any:
    """The element of an array without dimensions everywhere."""
    if value.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions."
        )
    return np.full_like(self, value if self.dtype.kind in COMPLEX_KINDS else value.real)


def polar(abs: Array, angle: Array) -> Any:
    """Complex numbers from polar coordinates, which must be floats of one dtype."""
    if abs.dtype.kind not in REAL_KINDS:
        raise RuntimeError(f"Expected both inputs to be floating point tensors, got {abs.dtype}")
    same_dtype("polar", abs, angle)
    return complex_numbers.complex(abs * np.cos(angle), abs * np.sin(angle))


def isclose(self: Array, other: Array, rtol: float, atol: float, equal_nan: bool) -> Any:
    """Where the difference is at most `atol + rtol * abs(other)`; infinities must be equal."""
    if self.dtype != other.dtype:
        raise RuntimeError(f"{type_name(self.dtype)} did not match {type_name(other.dtype)}")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    close = self == other
    if equal_nan:
        close = close | (np.isnan(self) & np.isnan(other))
    if self.dtype.kind == "b":
        self, other = self.astype(np.int64), other.astype(np.int64)
    distance = np.abs(self - other)
    return close | (np.isfinite(distance) & (distance <= atol + np.abs(rtol * other)))


def gcd(self: Array, other: Array) -> Any:
    """The greatest common divisor of integers."""
    _integers("gcd_cpu", self)
    return np.gcd(self, other)


def lcm(self: Array, other: Array) -> Any:
    """The least common multiple of integers."""
    _integers("lcm_cpu", self)
    return np.lcm(self, other)


def _integers(name: str, array: Array) -> None:
    if array.dtype.kind not in "iu":
        raise NotImplementedError(f"\"{name}\" not implemented for '{type_name(array.dtype)}'")

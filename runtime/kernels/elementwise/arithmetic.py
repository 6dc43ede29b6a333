"""Elementwise arithmetic, where dtypes, limits or special values of NumPy differ from PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import constants
from ...core.types import Number
from ...dtypes.kinds import COMPLEX_KINDS, is_symbolic
from ...dtypes.number_conversion import converted, wrapped
from ...dtypes.promotion import LAST_INTEGER, is_complex, to_float, type_name
from ...fast.log_sums import log_of_sum
from ...fast.powers import power
from ..elementwise.checks import Array, bool_subtraction, floating
from ..elementwise.complex_numbers import complex_log_of_sum
from ..elementwise.masking import where


def _with(self: Array, *numbers: Number | None) -> Array:
    """`self`, in the default float dtype if it holds integers and a number is a float."""
    if self.dtype.num > LAST_INTEGER:
        return self
    return to_float(self) if any(isinstance(number, float) for number in numbers) else self


def times(self: Array, alpha: Number) -> Any:
    """`alpha * self`; RuntimeError for an `alpha` that would leave the dtype's category."""
    if isinstance(alpha, float) and self.dtype.num <= LAST_INTEGER:
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    if isinstance(alpha, complex) and self.dtype.kind not in COMPLEX_KINDS:
        raise RuntimeError(
            "For non-complex input tensors, argument alpha must not be a complex number."
        )
    if self.dtype.kind == "b":
        return self & bool(alpha)
    if isinstance(alpha, bool):
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    return self * converted(alpha, self.dtype)


def rsub_scalar(self: Array, other: Number, alpha: Number) -> Any:
    """A number minus `alpha` times each element; RuntimeError if one of the two is bool."""
    if other is True or other is False or self.dtype.kind == "b":
        raise bool_subtraction()
    if self.dtype.num <= LAST_INTEGER:
        self = _with(self, other)
        other = wrapped(other, self.dtype)
    return other - self if alpha == 1 else other - times(self, alpha)


def div_rounded(self: Array, other: Array, rounding_mode: str) -> Any:
    """Quotients rounded to integers; RuntimeError for an integer divided by zero."""
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{rounding_mode}'"
        )
    is_whole = self.dtype.kind in "iub"
    if is_whole:
        _refuse_integer_division("div", self, other)
    if rounding_mode == "floor":
        return np.floor_divide(self, other)
    return truncated_quotient(self, other) if is_whole else np.trunc(self / other)


def truncated_quotient(self: Array, other: Array) -> Any:
    """Quotients of integers rounded towards zero."""
    whole = np.floor_divide(self, other)
    return whole + ((whole < 0) & (whole * other != self)).astype(whole.dtype)


def _refuse_integer_division(op: str, self: Array, other: Any) -> None:
    if self.dtype.kind == "b":
        raise NotImplementedError(f"{op} with rounding is not implemented for bools")
    if not np.all(other):
        raise RuntimeError("ZeroDivisionError")


def fmod_scalar(self: Array, other: Number) -> Any:
    """Return the remainders of division by a number, with the sign of the element."""
    self = _with(self.astype(np.int64) if self.dtype.kind == "b" else self, other)
    return fmod(self, wrapped(other, self.dtype))


def fmod(self: Array, other: Any) -> Any:
    """Return the remainders of division, with the sign of the dividend."""
    if self.dtype.kind in "iub":
        _refuse_integer_division("fmod", self, other)
    return np.fmod(self, other)


def remainder(self: Array, other: Any) -> Any:
    """Return remainders of division, with the sign of the divisor; zeros have that of `self`."""
    if self.dtype.kind in "iu":
        _refuse_integer_division("remainder", self, other)
    rest = np.remainder(self, other)
    if rest.dtype.kind == "f" and not rest.all():
        rest = np.copysign(rest, self, out=np.asarray(rest), where=rest == 0)
    return rest


def remainder_scalar(self: Array, other: Number) -> Any:
    """Return the remainders of division by a number."""
    self = _with(self, other)
    other = wrapped(other, self.dtype)
    return remainder(self, other)


def pow_scalar(self: Array, exponent: Number) -> Any:
    """Each element to the power of a number."""
    if self.dtype.num <= LAST_INTEGER:
        if self.dtype.kind == "b":
            if isinstance(exponent, bool):
                return self | (not exponent)
            self = self.astype(np.int64)
        self = _with(self, exponent)
    if self.dtype.kind in "iu" and isinstance(exponent, int):
        if exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        exponent = converted(exponent, self.dtype)
    return power(self, exponent)


def pow(self: Array, exponent: Array) -> Any:
    """Elements to the power of elements; integers to negative powers are 1, -1 or 0."""
    if self.dtype.kind not in "iub":
        return power(self, exponent)
    if self.dtype.kind == "b":
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    return _integer_power(self, exponent)


def pow_backward(self: Array, base: Array, exponent: Array) -> Any:
    """The slope of a power by the base times `self`; at an exponent of zero there is none."""
    slope = self * (exponent * base ** (exponent - 1))
    flat = exponent == 0
    return where(flat, 0, slope) if flat.any() else slope


def _integer_power(self: Any, exponent: Array) -> Any:
    """NumPy refuses negative exponents of integers; here the quotient is rounded towards zero."""
    if not (exponent < 0).any():
        return self**exponent
    self = np.asarray(self, exponent.dtype)
    unit = np.where(np.abs(self) == 1, self, 0)  # of all the others the reciprocal rounds to 0
    negative = np.where(exponent & 1, unit, np.abs(unit))
    return np.where(exponent < 0, negative, self ** np.maximum(exponent, 0))


def logaddexp(self: Array, other: Array) -> Any:
    """Logarithms of sums of exponentials, of floats and complex numbers."""
    floating("logaddexp_cpu", self)
    return complex_log_of_sum(self, other) if self.dtype.kind == "c" else log_of_sum(self, other)


def round(self: Array) -> Any:
    """The nearest integers, halves to even; integers stay as they are."""
    if self.dtype.kind == "b":
        floating("round_vml_cpu", self)
    return self.copy() if self.dtype.kind in "iu" else np.rint(self)


def round_decimals(self: Array, decimals: int) -> Any:
    """Round to `decimals` digits after the point by scaling; before it if negative."""
    if self.dtype.kind in "iub":
        raise NotImplementedError(f"round with decimals is not implemented for {self.dtype}")
    scale = 10 ** (decimals if decimals >= 0 else -decimals)
    if decimals < 0:
        return np.rint(self / scale) * scale
    scaled = self * scale
    # Numbers too large to be scaled have no digits after the point.
    return np.where(np.isinf(scaled), self, np.rint(scaled) / scale)


def pow_of_scalar(self: Number, exponent: Array) -> Any:
    """A number to the power of each element."""
    exponent = _with(exponent, self)
    self = wrapped(self, exponent.dtype)
    if exponent.dtype.kind in "iu":
        return _integer_power(self, exponent)
    if exponent.ndim or not isinstance(self, int | float):
        return self**exponent
    return power(np.array(self, exponent.dtype), exponent)


def times_log(self: Array, base: Any) -> Any:
    """Each element times the logarithm of a number, zero where the logarithm alone is infinite."""
    if base == 0 or base == constants.inf:
        return where(self == 0, 0, self * (constants.inf if base else -constants.inf))
    if isinstance(base, complex) or base > 0:
        return self * constants.log(base)
    if base < 0 and is_complex(self):
        return self * constants.log(complex(base))
    return self * constants.nan


def clamp(self: Array, min: Any, max: Any) -> Any:
    """Elements moved between bounds, arrays or numbers; the upper bound wins."""
    if min is None and max is None:
        raise RuntimeError("clamp: At least one of 'min' or 'max' must not be None")
    self = _with(self, min, max)
    if self.dtype.kind in "iu":
        min, max = converted(min, self.dtype), converted(max, self.dtype)
    raised = self if min is None else np.maximum(min, self)
    return raised if max is None else np.minimum(max, raised)


def within(self: Array, min: Any, max: Any) -> Any:
    """Find the elements between the bounds, or equal to one."""
    if max is None:
        return self >= min
    return self <= max if min is None else (self >= min) & (self <= max)


@np.errstate(over="ignore")  # of numbers that are none in the dtype
def nan_to_num(self: Array, nan: float | None, posinf: float | None, neginf: float | None) -> Any:
    """Numbers in the place of nan and of infinities; of complex numbers in both parts."""
    for name, number in (("nan", nan), ("posinf", posinf), ("neginf", neginf)):
        if isinstance(number, complex):
            raise TypeError(f"nan_to_num(): argument '{name}' must be float, not complex")
    return np.nan_to_num(self, True, 0.0 if nan is None else nan, posinf, neginf)


def frac(self: Array) -> Any:
    """Return the fractional parts that `trunc` removes; floats only."""
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
    return np.logaddexp2(self, other)


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


def isclose(self: Array, other: Array, rtol: float, atol: float, equal_nan: bool) -> Any:
    """Test that differences are at most `atol + rtol * abs(other)`; infinities must be equal."""
    if self.dtype != other.dtype:
        raise RuntimeError(f"{type_name(self.dtype)} did not match {type_name(other.dtype)}")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    close = self == other
    if equal_nan:
        close = close | (np.isnan(self) & np.isnan(other))
    if not rtol and not atol:
        return close
    if self.dtype.kind in "biu":
        # Differences of integers can exceed their dtype, and are negative where it has no sign.
        self, other = self.astype(np.float64), other.astype(np.float64)
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


def heaviside(self: Array, values: Array) -> Any:
    """Zero for negative elements and nan, one for positive ones, and `values` at zero."""
    return np.where(self == 0, values, (self > 0) * np.ones_like(values))


def frexp(self: Array) -> tuple[Any, Any]:
    """The number between a half and one, and the power of two, that make each element.

    The power is zero for zero, infinities and nan. RuntimeError for integers.
    """
    if self.dtype.kind not in "fO":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = np.frexp(self)
    if not is_symbolic(self.dtype):
        exponent = np.where(np.isfinite(self), exponent, 0)
    return mantissa, exponent.astype(np.int32)

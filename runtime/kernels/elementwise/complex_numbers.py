"""Complex numbers and the pairs of real ones that they are made of."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...dtypes.kinds import REAL_KINDS, is_symbolic
from ...dtypes.promotion import promote_types
from ..elementwise.checks import Array, same_dtype
from . import complex_numbers

_MARGIN: Final = 0.2
"""Exponents so much below the largest leave room for rounding."""


def view_as_real(self: Array) -> Array:
    """The same memory as pairs of real numbers; RuntimeError for numbers that are real already."""
    if is_symbolic(self.dtype):
        return np.stack([self.real, self.imag], -1)
    if self.dtype.kind != "c":
        raise RuntimeError("view_as_real and imag are only supported for complex tensors")
    return self[..., np.newaxis].view(self.real.dtype)


def view_as_complex(self: Array) -> Array:
    """Pairs of real numbers as complex ones in the same memory; each pair must be in one place."""
    if not self.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if self.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if is_symbolic(self.dtype):
        return self[..., 0].real + 1j * self[..., 1].real
    if self.dtype.kind != "f":
        raise RuntimeError("view_as_complex is only supported for floating point tensors")
    if not self.size and self.strides[-1] != self.itemsize:
        return np.empty(self.shape[:-1], complex_of(self.dtype))
    if self.strides[-1] != self.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(stride % (2 * self.itemsize) for stride in self.strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    return self.view(complex_of(self.dtype))[..., 0]


def complex(real: Array, imag: Array) -> Any:
    """Complex numbers from their parts, which must be floats of one dtype."""
    if is_symbolic(real.dtype):
        return real.real + 1j * imag.real
    if real.dtype.kind != "f":
        raise RuntimeError(f"Expected both inputs to be floating point tensors, got {real.dtype}")
    same_dtype("complex", real, imag)
    shape, dtype = np.broadcast_shapes(real.shape, imag.shape), complex_of(real.dtype)
    out = np.empty_like(real, dtype) if real.shape == shape else np.empty(shape, dtype)
    out.real = real
    out.imag = imag
    return out


def sign(self: Array) -> Any:
    """-1, 0 or 1 for each element; what is not a number has none, as 0. Bools are their own."""
    if self.dtype.kind == "b":
        return self.copy()
    found = np.sign(self)
    if self.dtype.kind == "f" and np.isnan(found).any():
        return np.where(np.isnan(found), np.zeros_like(found), found)
    return found


def sgn(self: Array) -> Any:
    """Each number divided by its absolute value."""
    return sign(self)


def complex_of(dtype: Any) -> np.dtype[Any]:
    """The complex dtype with parts of a real one."""
    return promote_types(dtype, np.dtype(np.complex64))


def polar(abs: Array, angle: Array) -> Any:
    """Complex numbers from polar coordinates, which must be floats of one dtype."""
    if abs.dtype.kind not in REAL_KINDS:
        raise RuntimeError(f"Expected both inputs to be floating point tensors, got {abs.dtype}")
    same_dtype("polar", abs, angle)
    return complex_numbers.complex(abs * np.cos(angle), abs * np.sin(angle))


def over_cosh(self: Array, x: Array, power: int) -> Any:
    """`self / (2 + 2 cosh(x))`, or with a power of two `self / cosh(x) ** 2`.

    Real parts of complex numbers are taken no farther than the divisor is finite: the quotient is
    smaller than the normal numbers there, and a complex infinity has parts that are not numbers.
    """
    if x.dtype.kind == "c":
        x = _bounded_real(x, power)
    height = np.cosh(x)
    return self / (2 + 2 * height) if power == 1 else self / np.square(height)


def _bounded_real(x: Array, power: int) -> Array:
    most = (np.log(np.finfo(x.dtype).max) - _MARGIN + 2 * np.log(2) * (power - 1)) / power
    found = np.empty_like(x)
    found.real = np.clip(x.real, -most, most)
    found.imag = x.imag
    return found


def has_imaginary_parts(A: Array) -> bool:
    """Return whether symbols are complex: the imaginary parts of real ones are the number zero."""
    try:
        return any(float(part) != 0 for part in A.imag.flat)
    except RuntimeError:  # a symbol is no number
        return True


def complex_log_of_sum(a: Array, b: Array) -> Any:
    """`log(exp(a) + exp(b))`, where neither exponential overflows; nan beside any nan.

    The imaginary part is that of the number with the larger real part, and a turn by the other.
    """
    with np.errstate(all="ignore"):
        is_first = a.real >= b.real
        larger, smaller = np.where(is_first, a, b), np.where(is_first, b, a)
        total = larger + np.log1p(np.exp(smaller - larger))
        # Two infinities of one sign have no difference; that of zeros is either of them.
        alike = np.isinf(a.real) & (a.real == b.real)
        total = np.where(alike, np.where(a.real < 0, b, np.log(np.exp(a) + np.exp(b))), total)
    return np.where(np.isnan(a) | np.isnan(b), np.nan * 1j, total).astype(a.dtype)

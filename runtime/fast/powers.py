"""Powers of arrays with one number as exponent.

NumPy's power of floats is vectorised for positive ones; where the base is negative it takes some
60 ns for an element, twenty to fifty times as long. So a whole number is the exponent of the
magnitude, and the sign comes after. Cubes are products, as PyTorch's are.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..core.captured import is_of_numbers
from .tuning import POWER_MAGNITUDE_MIN

_FLOATS: Final = "fd"
"""float32 and float64, as NumPy's characters."""
_REAL: Final = (int, float)
_OWN: Final = (-1, 0, 1)
"""Whole exponents for which NumPy has quick ways of its own, besides 2."""


def power(base: Any, exponent: Any) -> Any:
    """`base ** exponent`; quick where the exponent is a number, or an array without dimensions."""
    if isinstance(exponent, np.ndarray):
        if exponent.ndim or exponent.dtype != base.dtype:
            return base**exponent
        exponent = exponent.item()
        if exponent == 0.5 and type(base) is np.ndarray and base.dtype.kind == "f":
            # NumPy takes the square root, which is nan at -inf and keeps the sign of zero.
            return np.where(np.isinf(base), np.inf, np.sqrt(base + 0.0)).astype(base.dtype)
    elif exponent == -0.5 and is_of_numbers(base) and base.dtype.char in _FLOATS:
        return 1 / np.sqrt(base)  # for numbers as exponents PyTorch has the roots of IEEE
    if exponent == 2 or type(base) is not np.ndarray or base.dtype.char not in _FLOATS:
        return base**exponent
    if not isinstance(exponent, _REAL):  # complex
        return base**exponent
    if exponent == 3:
        return base * base * base
    if base.size < POWER_MAGNITUDE_MIN or exponent in _OWN or exponent % 1:
        return base**exponent
    out = np.asarray(np.abs(base))
    np.power(out, exponent, out)
    return np.copysign(out, base, out) if exponent % 2 else out

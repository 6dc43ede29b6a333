"""Constants, and functions of constants, for the floats at the head of generated modules.

A formula's `sqrt(2 / pi)` becomes `constants.sqrt(2 / constants.pi)`, computed once. One module
for all of them, so that a proof can put exact values in their place.
"""

from __future__ import annotations

from math import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    cos,
    cosh,
    e,
    erf,
    erfc,
    exp,
    exp2,
    expm1,
    inf,
    lgamma,
    log1p,
    log2,
    log10,
    nan,
    pi,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)
from math import log as _real_log

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "e",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "inf",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "nan",
    "pi",
    "rsqrt",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


def rsqrt(x: float) -> float:
    """One over the square root."""
    return 1.0 / sqrt(x)


def log(x: complex) -> complex:
    """The natural logarithm, a float unless `x` is a complex number."""
    if isinstance(x, complex):
        from cmath import log as complex_log  # an extension module that few programs need

        return complex_log(x)
    return _real_log(x)

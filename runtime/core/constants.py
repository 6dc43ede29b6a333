"""Constants, and functions of constants, for the floats at the head of generated modules.

A formula's `sqrt(2 / pi)` becomes `constants.sqrt(2 / constants.pi)`, computed once. One module
for all of them, so that a proof can put exact values in their place. What a formula computes of
its numbers and sizes, as in `sqrt(float(n))`, is a number of these functions, too: as precise as
Python's, and without a say in the dtype of what it meets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from math import e, erf, erfc, inf, nan, pi
from typing import Any

import numpy as np

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


def _on_numbers(
    function: Callable[[Any], float], ufunc: Callable[[Any], Any]
) -> Callable[..., Any]:
    """A function of `math` that answers as arrays do at poles and outside of its domain."""

    @wraps(function)
    def on_number(x: complex) -> Any:
        try:
            return function(x)
        except (ValueError, ArithmeticError, TypeError):
            with np.errstate(all="ignore"):
                return ufunc(x if isinstance(x, complex) else float(x)).item()

    return on_number


acos = _on_numbers(math.acos, np.acos)
acosh = _on_numbers(math.acosh, np.acosh)
asin = _on_numbers(math.asin, np.asin)
asinh = _on_numbers(math.asinh, np.asinh)
atan = _on_numbers(math.atan, np.atan)
atanh = _on_numbers(math.atanh, np.atanh)
cos = _on_numbers(math.cos, np.cos)
cosh = _on_numbers(math.cosh, np.cosh)
exp = _on_numbers(math.exp, np.exp)
exp2 = _on_numbers(math.exp2, np.exp2)
expm1 = _on_numbers(math.expm1, np.expm1)
log = _on_numbers(math.log, np.log)
log1p = _on_numbers(math.log1p, np.log1p)
log2 = _on_numbers(math.log2, np.log2)
log10 = _on_numbers(math.log10, np.log10)
sin = _on_numbers(math.sin, np.sin)
sinh = _on_numbers(math.sinh, np.sinh)
sqrt = _on_numbers(math.sqrt, np.sqrt)
tan = _on_numbers(math.tan, np.tan)
tanh = _on_numbers(math.tanh, np.tanh)
lgamma = _on_numbers(math.lgamma, lambda x: np.float64(nan if x != x else inf))
rsqrt = _on_numbers(lambda x: 1.0 / math.sqrt(x), lambda x: 1 / np.sqrt(x))

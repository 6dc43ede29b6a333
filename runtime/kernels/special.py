"""Special functions that SciPy has no ufunc for."""

from __future__ import annotations

from math import factorial
from typing import Any

from .checks import Array


def polygamma(n: int, self: Array) -> Any:
    """The derivative of order `n` of `digamma`, by the Hurwitz zeta function."""
    from scipy import special

    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return special.digamma(self)
    return (-1) ** (n + 1) * factorial(n) * special.zeta(n + 1, self)

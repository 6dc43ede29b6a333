"""Orthogonal polynomials of any degree, and their derivatives, by their recurrences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from ...dtypes.kinds import is_symbolic
from ..elementwise.checks import Array

Recurrence: TypeAlias = Callable[[int], tuple[int, int, int, int]]
"""From `k` to the `(a, b, c, d)` of `d p[k + 1] = (a x + b) p[k] - c p[k - 1]`."""


def _chebyshev(first: tuple[int, int], next: tuple[int, int]) -> Recurrence:
    return lambda k: (*(next if k else first), 1, 1)


_RECURRENCES: Final[dict[str, Recurrence]] = {
    "chebyshev_t": _chebyshev((1, 0), (2, 0)),
    "chebyshev_u": _chebyshev((2, 0), (2, 0)),
    "chebyshev_v": _chebyshev((2, -1), (2, 0)),
    "chebyshev_w": _chebyshev((2, 1), (2, 0)),
    "shifted_chebyshev_t": _chebyshev((2, -1), (4, -2)),
    "shifted_chebyshev_u": _chebyshev((4, -2), (4, -2)),
    "shifted_chebyshev_v": _chebyshev((4, -3), (4, -2)),
    "shifted_chebyshev_w": _chebyshev((4, -1), (4, -2)),
    "hermite_h": lambda k: (2, 0, 2 * k, 1),
    "hermite_he": lambda k: (1, 0, k, 1),
    "laguerre_l": lambda k: (-1, 2 * k + 1, k, k + 1),
    "legendre_p": lambda k: (2 * k + 1, 0, k, k + 1),
}
"""NIST Handbook of Mathematical Functions, 18.9; the kinds v and w are the third and the fourth."""


def orthogonal_polynomial(x: Array, n: Array, kind: str, order: int) -> Any:
    """The derivative of some order of the polynomial of degree `n`; zero for negative degrees.

    Degrees are cut to whole numbers. RuntimeError for those that are not finite.
    """
    if n.dtype.kind == "f" and not np.isfinite(n).all():
        raise RuntimeError(f"{kind}: the degrees of polynomials have to be finite")
    degrees = n.astype(np.int64)
    if not is_symbolic(x.dtype):
        degrees, x = np.broadcast_arrays(degrees, x)
    recurrence = _RECURRENCES[kind]
    zero = np.zeros_like(x)
    before = [zero] * (order + 1)
    now = [zero + 1, *before[1:]]
    found = np.where(degrees == 0, now[order], zero)
    for k in range(int(degrees.max(initial=0))):
        a, b, c, d = recurrence(k)
        factor = x * a + b
        after = [
            (factor * now[i] + (i * a * now[i - 1] if i else 0) - (c * before[i] if k else 0)) / d
            for i in range(order + 1)
        ]
        before, now = now, after
        found = np.where(degrees == k + 1, now[order], found)
    return found

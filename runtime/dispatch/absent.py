"""Sums of what is there: an absent tangent or gradient is None, and takes part in nothing.

Zeros in its place would be multiplied, and `inf * 0` is not zero. Generated rules call these, on
arrays as on tensors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor, wrap


def add_present(left: Any, right: Any) -> Any:
    """The sum; the other one where one is absent, None where both are."""
    if left is None:
        return right
    return left if right is None else left + right


def subtract_present(left: Any, right: Any) -> Any:
    """The difference; an absent part leaves the other one, or its negative."""
    if right is None:
        return left
    return -right if left is None else left - right


def or_zero(value: Any) -> Any:
    """Return zero for an absent part of a `where`."""
    return 0 if value is None else value


def zeros_if_absent(tangent: Any, primal: Any) -> Any:
    """Zeros like `primal`, for an op that does not multiply them; of lists item by item."""
    if isinstance(primal, list | tuple):
        tangents = [None] * len(primal) if tangent is None else tangent
        return [zeros_if_absent(*pair) for pair in zip(tangents, primal, strict=True)]
    if tangent is not None or primal is None:
        return tangent
    if isinstance(primal, Tensor):
        return wrap(np.zeros_like(primal.array))
    return np.zeros_like(primal)

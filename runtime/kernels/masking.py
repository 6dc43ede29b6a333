"""Choosing between arrays by a condition; the choice between an array and zero is a bit mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from .checks import Array

_INTEGERS = {np.dtype(np.float32): np.int32, np.dtype(np.float64): np.int64}
"""The integers of the width of a float."""


def where(condition: Array, self: Any, other: Any) -> Array:
    """`np.where` of a bool condition."""
    if condition.dtype.kind != "b":
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{condition.dtype}"
        )
    if type(other) is int and not other and _can_mask(condition, self):
        return _masked(self, condition)
    if type(self) is int and not self and _can_mask(condition, other):
        return _masked(other, ~condition)
    return np.where(condition, self, other)


def _can_mask(condition: Array, values: Any) -> bool:
    return (
        type(values) is np.ndarray
        and values.dtype in _INTEGERS
        and values.shape == condition.shape
        and values.flags.c_contiguous
        and condition.ndim > 0
    )


def _masked(values: Array, kept: Array) -> Array:
    """`values` where `kept`, else zero: several times faster than `np.where`.

    A product with the mask would do for finite values; the bits also do for inf and nan.
    """
    mask = kept.astype(_INTEGERS[values.dtype])
    np.negative(mask, out=mask)  # 1 becomes a word of ones
    np.bitwise_and(values.view(mask.dtype), mask, out=mask)
    return mask.view(values.dtype)

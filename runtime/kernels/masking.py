"""Choosing between arrays by a condition; the choice between an array and zero is a bit mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from .checks import Array

_INTEGERS = {np.dtype(np.float32): np.int32, np.dtype(np.float64): np.int64}
"""The integers of the width of a float."""

_FEWEST = 512
"""From so many elements on the masks are quicker than `np.where`."""


def where(condition: Array, self: Any, other: Any) -> Array:
    """`np.where` of a bool condition."""
    if condition.dtype.kind != "b":
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{condition.dtype}"
        )
    if type(other) is int and not other and _can_mask(condition, self):
        # 0 - True is a word of ones, 0 - False is zero.
        return _masked(self, np.subtract(0, condition, dtype=_INTEGERS[self.dtype]))
    if type(self) is int and not self and _can_mask(condition, other):
        return _masked(other, np.subtract(condition, 1, dtype=_INTEGERS[other.dtype]))
    return np.where(condition, self, other)


def _can_mask(condition: Array, values: Any) -> bool:
    return (
        type(values) is np.ndarray
        and values.dtype in _INTEGERS
        and values.shape == condition.shape
        and values.flags.c_contiguous
        and values.size >= _FEWEST
    )


def _masked(values: Array, mask: Array) -> Array:
    """`values` where the mask has ones, else zero: several times faster than `np.where`.

    A product with zeros and ones would do for finite values; the bits also do for inf and nan.
    """
    mask &= values.view(mask.dtype)
    return mask.view(values.dtype)

"""Choosing between arrays by a condition; from some size on, by the bits of a mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes.kinds import is_symbolic
from ...dtypes.promotion import get_default_dtype
from ...fast.tuning import SELECT_MASK_MIN, ZERO_MASK_MIN
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
        # 0 - True is a word of ones, 0 - False is zero.
        return _masked(self, 0, condition)
    if type(self) is int and not self and _can_mask(condition, other):
        return _masked(other, condition, 1)
    if condition.size >= SELECT_MASK_MIN and _stand_beside(condition, self, other):
        return _chosen(condition, self, other)
    return np.where(condition, self, other)


def choice(condition: Array, self: Any, other: Any, dtype: Any) -> Array:
    """One of two numbers for each element, in the dtype of arrays that they stand beside.

    Fractions beside integers are of the default dtype, numbers beside bools integers, and those
    beside symbols floats.
    """
    found = np.where(condition, self, other)
    wanted = np.dtype(dtype)
    if is_symbolic(found.dtype) or wanted.kind == "b":
        return found
    if is_symbolic(wanted):
        return found.astype(np.float64)
    is_fraction = found.dtype.kind == "f" and wanted.kind in "iu"
    return found.astype(get_default_dtype() if is_fraction else wanted)


def _can_mask(condition: Array, values: Any) -> bool:
    return (
        type(values) is np.ndarray
        and values.dtype in _INTEGERS
        and values.shape == condition.shape
        and values.flags.c_contiguous
        and values.size >= ZERO_MASK_MIN
    )


def _stand_beside(condition: Array, self: Any, other: Any) -> bool:
    """Return whether bits of one can replace bits of the other, which may be one number."""
    wide, narrow = (self, other) if getattr(self, "ndim", 0) else (other, self)
    return (
        _can_mask(condition, wide)
        and type(narrow) is np.ndarray
        and narrow.dtype is wide.dtype
        and (not narrow.ndim or _can_mask(condition, narrow))
    )


def _masked(values: Array, left: Any, right: Any) -> Array:
    """`values` where `left - right` is a word of ones, else zero: faster than `np.where`.

    A product with zeros and ones would do for finite values; the bits also do for inf and nan.
    """
    integer = _INTEGERS[values.dtype]
    mask = np.subtract(left, right, dtype=integer)
    mask &= values.view(integer)
    return mask.view(values.dtype)


def _chosen(condition: Array, self: Array, other: Array) -> Array:
    """`self` where the condition holds, else `other`, by bits: no branch for any element."""
    integer = _INTEGERS[self.dtype]
    bits = other.view(integer)
    mask = np.subtract(0, condition, dtype=integer)
    mask &= bits ^ self.view(integer)
    mask ^= bits
    return mask.view(self.dtype)

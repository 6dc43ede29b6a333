"""Shifts of the bits of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes.promotion import type_name

Array = np.ndarray[Any, Any]


def left_shift(self: Array, other: Array) -> Any:
    """Bits moved to higher places; zero where they are moved by all places, or by less than none.

    NotImplementedError for dtypes without integers.
    """
    count, inside = _places("lshift_cpu", self, other)
    return np.where(inside, np.left_shift(self, count), np.zeros((), self.dtype))


def right_shift(self: Array, other: Array) -> Any:
    """Bits moved to lower places, of signed integers with copies of the sign; by all places where
    they are moved by more than these, or by less than none.

    NotImplementedError for dtypes without integers.
    """
    count, inside = _places("rshift_cpu", self, other)
    far = np.full((), 8 * self.dtype.itemsize - 1, self.dtype)
    moved = np.right_shift(self, np.where(inside, count, far))
    return moved if self.dtype.kind == "i" else np.where(inside, moved, np.zeros((), self.dtype))


def _places(name: str, self: Array, other: Array) -> tuple[Any, Any]:
    """Return the places to move by, zero where these are none, and where they are some."""
    for array in (self, other):
        if array.dtype.kind not in "iu":
            raise NotImplementedError(f"\"{name}\" not implemented for '{type_name(array.dtype)}'")
    inside = (other >= 0) & (other < 8 * self.dtype.itemsize)
    return np.where(inside, other, np.zeros((), other.dtype)), inside

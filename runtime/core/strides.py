"""The order in memory that PyTorch promises of results, where a later `view` can tell it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]


def is_dense(array: Array) -> bool:
    """Return whether the elements fill their memory without gaps, each in a place of its own.

    True of a transposed array, not of one that is expanded or a part of another.
    """
    if array.flags.c_contiguous:
        return True
    reach = array.itemsize
    for stride, length in sorted(zip(array.strides, array.shape, strict=True)):
        if length != 1:
            if stride != reach:
                return False
            reach *= length
    return True


def outermost_first(strides: Sequence[int]) -> list[int]:
    """The dimensions by falling stride, as PyTorch's insertion sort finds them.

    A stride of zero says nothing: its dimension goes with its neighbours.
    """
    order = list(range(len(strides)))[::-1]
    for start in range(1, len(order)):
        inner = start
        for outer in range(start - 1, -1, -1):
            a, b = strides[order[outer]], strides[order[inner]]
            if not a or not b or a == b:
                continue
            if a < b:
                break
            order[outer], order[inner] = order[inner], order[outer]
            inner = outer
    return order[::-1]


def in_order_of(like: Array, array: Array) -> Array:
    """An array laid out as PyTorch lays out a copy of `like`, of one shape; itself if it is so."""
    if like.flags.c_contiguous and array.flags.c_contiguous:
        return array
    order = outermost_first([abs(stride) for stride in like.strides])
    turned = array.transpose(order)
    if turned.flags.c_contiguous:
        return array
    return turned.copy(order="C").transpose(np.argsort(order))


def copy_in_order_of(array: Array, values: Array) -> Array:
    """A copy of values that lies in memory as a dense array of their shape; else row by row."""
    if array.flags.c_contiguous or not is_dense(array):
        return values.copy(order="C")
    order = outermost_first(array.strides)
    return values.transpose(order).copy(order="C").transpose(np.argsort(order))

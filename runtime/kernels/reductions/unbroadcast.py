"""Undoing broadcasting: the gradient of an operand has the operand's shape and dtype."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from ...dtypes.kinds import is_symbolic
from ...fast.summation import sums

Array: TypeAlias = np.ndarray[Any, Any]
ShapeDtype: TypeAlias = tuple[tuple[int, ...], np.dtype[Any]]
"""The shape and dtype of an operand, which a node keeps instead of the operand."""


def reduce_to(grad: Array, like: ShapeDtype) -> Array:
    """Sum an array over the dimensions that broadcasting made, and cast it to `like`'s dtype.

    A complex gradient of a real operand loses its imaginary part, PyTorch's convention. Arrays of
    symbols (dtype object) are never cast, and keep their class.
    """
    shape, dtype = like
    if grad.shape != shape:
        axes = broadcast_dims(grad.shape, shape)
        if axes:
            # keepdims: a sum over every dimension would otherwise be a scalar, not an array.
            grad = sums(grad, axes, True)
        if grad.shape != shape:
            grad = grad.reshape(shape)
    if grad.dtype is not dtype and must_cast(grad.dtype, dtype):
        if grad.dtype.kind == "c" and dtype.kind != "c":
            grad = grad.real
        grad = grad.astype(dtype, copy=False)
    return grad


@lru_cache(maxsize=1024)
def broadcast_dims(wide: tuple[int, ...], narrow: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions of `wide` over which a gradient for `narrow` is summed.

    Remembered, because a training loop asks the same thing on every step.
    """
    leading = len(wide) - len(narrow)
    stretched = [
        leading + dim
        for dim, length in enumerate(narrow)
        if length == 1 and wide[leading + dim] != 1
    ]
    return (*range(leading), *stretched)


def must_cast(found: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    return found != wanted and not is_symbolic(found) and not is_symbolic(wanted)

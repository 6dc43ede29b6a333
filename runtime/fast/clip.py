"""The larger or the smaller of each element and one number.

NumPy compares with a number one element after another, in 0.45 ns each of float32; with an array of
as many elements in vectors, in 0.14. So for all but small arrays the number is laid out.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from .parallel_for import in_blocks
from .tuning import CHUNK, CLIP_ARRAY_MIN

Array: TypeAlias = np.ndarray[Any, Any]

_TYPES: Final = (np.dtype(np.float32), np.dtype(np.float64))


def at_least(array: Any, number: Any) -> Any:
    """`np.maximum(number, array)`; of zeros of either sign, that of the array."""
    return _limited(np.maximum, array, number)


def at_most(array: Any, number: Any) -> Any:
    """`np.minimum(number, array)`; of zeros of either sign, that of the array."""
    return _limited(np.minimum, array, number)


def _limited(ufunc: np.ufunc, array: Any, number: Any) -> Any:
    if not (
        array.size >= CLIP_ARRAY_MIN
        and type(array) is np.ndarray
        and array.dtype in _TYPES
        and array.flags.c_contiguous
        and type(number) in (int, float)  # NumPy numbers may ask for another dtype
    ):
        return ufunc(number, array)
    limit = np.zeros(min(array.size, CHUNK), array.dtype)
    if number:
        limit.fill(number)

    def step(part: Array, out: Array | None = None) -> Any:
        return ufunc(limit[: part.size].reshape(part.shape), part, out=out)

    return in_blocks(step, array)

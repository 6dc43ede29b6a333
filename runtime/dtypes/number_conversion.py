"""Python numbers as elements of a dtype, in the two ways in which PyTorch converts them.

Beside a tensor in arithmetic an integer is wrapped, as in C: of uint8, `x + (-3)` is `x + 253`.
What is to be stored, and what scales or bounds, is refused where the dtype cannot hold it; of
unsigned dtypes negative numbers are wrapped even then. NumPy refuses all of these.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

DType: TypeAlias = np.dtype[Any]

_NAMES = {"bool": "bool", "int32": "int", "float16": "half", "float32": "float"}
"""C's names of dtypes, where they are not the dtype's own name and `_t`."""


def wrapped(number: Any, dtype: DType) -> Any:
    """A number beside a tensor: an integer modulo what its integer dtype holds.

    OverflowError for an integer that 64 bits cannot hold.
    """
    if type(number) is not int or dtype.kind not in "iu":
        return number
    _check_width(number)
    bits = 8 * dtype.itemsize
    rest = number & (1 << bits) - 1
    return rest - (1 << bits) if dtype.kind == "i" and rest >> bits - 1 else rest


def converted(number: Any, dtype: DType) -> Any:
    """A number that takes a place among elements; RuntimeError if it does not fit into their dtype.

    Nor does a complex number fit among real ones, unless its imaginary part is zero; as a bool it
    says whether it is zero. OverflowError for an integer that 64 bits cannot hold.
    """
    if isinstance(number, complex | np.complex64) and dtype.kind in "iuf":
        if number.imag:
            raise _refusal(dtype)
        number = float(number.real)
    if dtype.kind not in "iuf" or not isinstance(number, int | float):
        return number
    if dtype.kind == "f":
        if math.isfinite(number) and not -(high := np.finfo(dtype).max) <= number <= high:
            raise _refusal(dtype)
        return number
    if type(number) is int:
        _check_width(number)
    if not (math.isfinite(number) and fits(int(number), dtype)):
        raise _refusal(dtype)
    return wrapped(int(number), dtype)


def converted_array(array: Any, dtype: DType) -> Any:
    """An array in another dtype, by the rules of `converted` for what becomes an integer."""
    if array.size and dtype.kind in "iu" and array.dtype != dtype:
        if not np.isfinite(array).all():
            raise _refusal(dtype)
        if not (fits(int(array.min()), dtype) and fits(int(array.max()), dtype)):
            raise _refusal(dtype)
    return array.astype(dtype)


def fits(number: int, dtype: DType) -> bool:
    """Return whether an integer dtype can hold a number; unsigned ones wrap negative numbers."""
    limits = np.iinfo(dtype)
    low = -int(limits.max) if dtype.kind == "u" else int(limits.min)
    return low <= number <= int(limits.max)


def _check_width(number: int) -> None:
    if not -(1 << 63) <= number < 1 << 64:
        raise OverflowError(f"{number} is too large an integer: no dtype can hold it")


def _refusal(dtype: DType) -> RuntimeError:
    name = _NAMES.get(dtype.name, f"{dtype.name}_t")
    return RuntimeError(f"value cannot be converted to type {name} without overflow")

"""Checks of kernels' arguments, with PyTorch's exception types and messages."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...dtypes.promotion import type_name
from ...dtypes.whole_numbers import dim_number

Array = np.ndarray[Any, Any]

HALF: Final = np.dtype(np.float16)
"""The dtype that functions compute in single precision where its range would not do."""


class LinAlgError(RuntimeError):
    """A matrix without an answer: `gs.linalg.LinAlgError`."""


class ArgumentError(ValueError):
    """A value that PyTorch refuses with a ValueError of its own.

    Apart from NumPy's ValueErrors, which PyTorch's users know as RuntimeErrors.
    """


def normalize_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the front; raises IndexError. A scalar counts as one-dimensional."""
    if type(dim) is not int:
        dim = dim_number(dim)
    span = ndim or 1
    if not -span <= dim < span:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got "
            f"{dim})"
        )
    return dim % span


def same_dtype(name: str, *arrays: Array) -> None:
    """Raise RuntimeError unless all arrays have one dtype; products do not promote."""
    first = arrays[0].dtype
    for array in arrays[1:]:
        if array.dtype != first:
            raise RuntimeError(
                f"{name}: expected all tensors to have the same dtype, but got: "
                f"{type_name(first)} != {type_name(array.dtype)}"
            )


def floating(name: str, array: Array) -> None:
    """Raise NotImplementedError for integers and bools, where an op is not defined for them."""
    if array.dtype.kind in "iub":
        raise NotImplementedError(f"\"{name}\" not implemented for '{type_name(array.dtype)}'")


def refuse_bools(_name: str, *arrays: Array) -> None:
    """Raise RuntimeError if one of the arrays holds bools."""
    if any(array.dtype.kind == "b" for array in arrays):
        raise bool_subtraction()


def bool_subtraction() -> RuntimeError:
    """The error of a difference with bools, which may have been meant for a mask."""
    return RuntimeError(
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
        "invert a mask, use the `~` or `logical_not()` operator instead."
    )

"""Arguments that are one whole number or several, and numbers of dimensions."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


def whole_numbers(given: Any) -> list[int]:
    """List Python's integers of one or several, which may be NumPy's or tensors of one element."""
    try:
        return [operator.index(given)]
    except TypeError:
        return [operator.index(each) for each in given]


def check_whole(function: str, argument: str, given: Any) -> None:
    """TypeError for what is no whole number, also for bools, although Python counts with them."""
    if isinstance(given, bool | np.bool_) or not hasattr(given, "__index__"):
        raise TypeError(
            f"{function}(): argument '{argument}' must be int, not {type(given).__name__}"
        )


def dim_number(dim: Any) -> int:
    """A dimension as an int of Python, which may be NumPy's or a tensor of a single whole number.

    TypeError for all others, also for bools, although Python counts with them.
    """
    if isinstance(dim, bool | np.bool_ | np.ndarray) or not hasattr(dim, "__index__"):
        raise TypeError(f"argument 'dim' must be int, not {type(dim).__name__}")
    return operator.index(dim)


def dim_numbers(dim: Any) -> tuple[int, ...]:
    """Several dimensions, or a single one, as ints of Python."""
    if isinstance(dim, tuple | list | range):
        return tuple(each if type(each) is int else dim_number(each) for each in dim)
    return (dim_number(dim),)

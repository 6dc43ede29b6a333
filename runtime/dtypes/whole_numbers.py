"""Arguments that are one whole number or several, and numbers of dimensions."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


def whole_number(function: str, argument: str, given: Any) -> Any:
    """Return a whole number as Python's, by the rule of `as_whole`; TypeError for what is none."""
    number = as_whole(given)
    if number is None:
        raise TypeError(
            f"{function}(): argument '{argument}' must be int, not {type(given).__name__}"
        )
    return number


def as_whole(given: Any) -> Any:
    """Return a whole number as Python's, which may be NumPy's or a tensor of a single one.

    Numbers of classes derived from `int` stay as they are. None for all others, also for bools,
    although Python counts with them.
    """
    if isinstance(given, bool) or getattr(given, "dtype", None) == np.bool_:
        return None
    if isinstance(given, int):
        return given
    try:
        return operator.index(given)
    except TypeError:
        return None


def dim_number(dim: Any, argument: str = "dim") -> int:
    """A dimension as an int of Python, which may be NumPy's or a tensor of a single whole number.

    TypeError for all others, also for bools, although Python counts with them.
    """
    number: int | None = None if isinstance(dim, np.ndarray) else as_whole(dim)
    if number is None:
        raise TypeError(f"argument '{argument}' must be int, not {type(dim).__name__}")
    return number


def dim_numbers(dim: Any, argument: str = "dim") -> tuple[int, ...]:
    """Several dimensions, or a single one, as ints of Python."""
    if isinstance(dim, tuple | list | range):
        return tuple(each if type(each) is int else dim_number(each, argument) for each in dim)
    return (dim_number(dim, argument),)

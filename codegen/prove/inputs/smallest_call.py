"""The same refutation at a smaller call: few elements, numbers of few digits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..identities.identity import Mismatch

Values = dict[str, Any]
_Change = Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]

_DIGITS = (0, 1)
"""Digits behind the point to which numbers are rounded, the simplest first."""


def smallest_call(
    values: Values, mismatch: Mismatch, judged: Callable[[Values], Mismatch | None]
) -> tuple[Values, Mismatch]:
    """The call with one element along as many dimensions as possible, and short numbers.

    `judged` answers what is wrong at a call, if anything: it must be the same that is wrong.
    """
    for change in _changes(values):
        smaller = {name: _changed(value, change) for name, value in values.items()}
        if all(_is_same(smaller[name], value) for name, value in values.items()):
            continue
        found = judged(smaller)
        if found is not None and found.label == mismatch.label:
            values, mismatch = smaller, found
    return values, mismatch


def _changes(values: Values) -> Iterator[_Change]:
    """The changes of all arrays that are tried: an extent to one, or two, wherever it is found."""
    extents = {size for array in _arrays(values) for size in array.shape if size > 1}
    for size in sorted(extents, reverse=True):
        for smaller in range(1, min(size, 3)):
            yield partial(_cut, size, smaller)
    for digits in _DIGITS:
        yield partial(_round, digits)


def _cut(size: int, smaller: int, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array[tuple(slice(smaller if n == size else n) for n in array.shape)]


def _round(digits: int, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Round what has no zero then: a zero is a special point."""
    rounded = np.asarray(np.round(array, digits)) if array.dtype.kind in "fc" else array
    return rounded if np.count_nonzero(rounded) == np.count_nonzero(array) else array


def _arrays(values: Values) -> Iterator[np.ndarray[Any, Any]]:
    for value in values.values():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, np.ndarray):
                yield each


def _changed(value: Any, change: _Change) -> Any:
    if isinstance(value, list):
        return [_changed(each, change) for each in value]
    return change(value) if isinstance(value, np.ndarray) else value


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return all(map(_is_same, one, other))
    return one is other or (
        isinstance(one, np.ndarray) and one.shape == other.shape and bool((one == other).all())
    )

"""Derivatives of parts: cotangents and tangents of which some elements are zero.

A VJP is linear in the cotangents, and a JVP in the tangents. One that divides by them, or asks for
their sign, agrees with slopes as long as none of their elements is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from ..identities.identity import Mismatch
from .measures import is_finite, short

Array = np.ndarray[Any, Any]
_K = TypeVar("_K")
_R = TypeVar("_R")

TOLERANCE = 1e-7
"""Error of the sum of two parts, relative to the largest element of it."""


def check_parts(
    derivative: Callable[[dict[_K, Array]], dict[_R, Array] | None],
    given: Mapping[_K, Array],
    whole: Mapping[_R, Array],
    label: str,
    what: str,
) -> int:
    """Compare a derivative with those of every second element and of the others, added up.

    Returns the number of comparisons. Raises Mismatch.
    """
    parts = []
    for first in (0, 1):
        found = derivative({key: _every_second(array, first) for key, array in given.items()})
        if found is None:
            return 0
        parts.append(found)
    for key, wanted in whole.items():
        if not is_finite(wanted):
            continue
        total = parts[0][key] + parts[1][key]
        slack = TOLERANCE * np.abs(wanted).max(initial=1e-2)
        if not (np.abs(total - wanted) <= slack).all():
            name = key[0] if isinstance(key, tuple) else str(key)
            message = f"is {short(total)} as the sum of two parts, for {short(wanted)}: {what}"
            raise Mismatch(label.format(name), name.partition("[")[0], message)
    return len(whole)


def _every_second(array: Array, first: int) -> Array:
    """The array with zeros in every second place, from the first or the second one on."""
    part = array.copy()
    part.flat[first::2] = 0
    return part

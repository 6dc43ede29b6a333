"""Errors along an argument: the worst in each of some intervals, a letter for each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

_MAGNITUDES: Final = [10 ** (n / 2) for n in range(-16, 9)]
"""Half a decade apart, from 1e-8 to 1e4."""

EDGES: Final = (*(-m for m in reversed(_MAGNITUDES)), *_MAGNITUDES)
"""Between these lie the intervals; the first and the last have no end."""

LETTERS: Final = "0123456789abcdefghijklmnopqrstuvwxy"
"""The number of right digits in halves: from none to 17, which also stands for an exact value."""

NOWHERE: Final = "."
"""No point was looked at."""


def along(arguments: Sequence[float], errors: Sequence[float | None]) -> str:
    """Return the letters of the worst errors in all intervals, from the lowest arguments up."""
    worst: list[float | None] = [None] * (len(EDGES) + 1)
    for place, error in zip(np.digitize(arguments, EDGES).tolist(), errors, strict=True):
        if error is not None:
            worst[place] = max(error, worst[place] or 0.0)
    return "".join(NOWHERE if error is None else _letter(error) for error in worst)


def _letter(error: float) -> str:
    most = len(LETTERS) - 1
    digits = most if error == 0 else 0 if math.isinf(error) else round(-2 * math.log10(error))
    return LETTERS[min(max(digits, 0), most)]

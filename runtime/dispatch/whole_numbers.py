"""Arguments that are one whole number or several."""

from __future__ import annotations

import operator
from typing import Any


def whole_numbers(given: Any) -> list[int]:
    """List Python's integers of one or several, which may be NumPy's or tensors of one element."""
    try:
        return [operator.index(given)]
    except TypeError:
        return [operator.index(each) for each in given]

"""The number of elements, as formulas ask for it."""

from __future__ import annotations

import math
from typing import Any


def numel(of: Any) -> int:
    """The number of elements of a tensor or an array, or of one of this shape."""
    return math.prod(getattr(of, "shape", of))

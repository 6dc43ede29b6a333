"""The number of elements, as formulas ask for it."""

from __future__ import annotations

import math
from typing import Any


def numel(of: Any) -> int:
    """The number of elements of a tensor or an array, or of one of this shape."""
    return math.prod(getattr(of, "shape", of))


def check_bytes(shape: tuple[int, ...], itemsize: int) -> None:
    """RuntimeError for more bytes than 63 bits count; NumPy refuses that of empty arrays, too."""
    if math.prod(shape) * itemsize >= 1 << 63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")
    if math.prod(length or 1 for length in shape) * itemsize >= 1 << 63:
        raise RuntimeError(f"Stride calculation overflowed with sizes={list(shape)}")

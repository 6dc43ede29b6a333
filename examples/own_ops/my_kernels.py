"""Kernels that ops.yaml calls: NumPy functions that run on numbers and on symbols alike.

`gradspec codegen` copies this file into the package, and proves the ops by running it.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def moving_sum(x: Any, width: int) -> Any:
    """Sum `width` neighbours along the last dimension."""
    count = x.shape[-1] - width + 1
    if width < 1 or count < 1:
        raise ValueError(f"width must be between 1 and {x.shape[-1]}, not {width}")
    return sum(x[..., first : first + count] for first in range(width))


def spread(sums: Any, width: int) -> Any:
    """Add each element to `width` neighbours: the transpose of `moving_sum`."""
    count = sums.shape[-1]
    if width < 1:
        raise ValueError(f"width must be 1 or more, not {width}")
    out = np.zeros_like(sums, shape=(*sums.shape[:-1], count + width - 1))
    for first in range(width):
        out[..., first : first + count] += sums
    return out

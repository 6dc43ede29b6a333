"""Sums and counts of the elements that are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementwise.checks import Array
from .sums import Dims, sum


def nansum(self: Array, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    """Sums without the elements that are nan."""
    numbers = self if self.dtype.kind in "iub" else np.where(np.isnan(self), 0, self)
    return sum(numbers, dim, keepdim, dtype)


def count_numbers(self: Array, dim: Dims, keepdim: bool) -> Any:
    """How many elements are not nan; RuntimeError for integers."""
    if self.dtype.kind in "iub":
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{self.dtype}"
        )
    return sum(~np.isnan(self), dim, keepdim, None)

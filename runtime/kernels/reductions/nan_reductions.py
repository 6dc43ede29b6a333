"""Reductions that ask of each element what it is: not a number, or not zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementwise.checks import Array
from .extremes import amax, amin
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


def count_nonzero(self: Array, dim: Dims) -> Any:
    """How many elements are not zero."""
    return sum(self != 0, dim, False, None)


def aminmax(self: Array, dim: int | None, keepdim: bool) -> tuple[Any, Any]:
    """The smallest and the largest elements."""
    return amin(self, dim, keepdim), amax(self, dim, keepdim)

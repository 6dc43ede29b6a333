"""Variances and standard deviations, each with the mean."""

from __future__ import annotations

from typing import Any

from ..elementwise.checks import Array
from .sums import Dims, mean, std, var


def var_mean(self: Array, dim: Dims, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    """Variances and means."""
    return var(self, dim, correction, keepdim), mean(self, dim, keepdim, None)


def std_mean(self: Array, dim: Dims, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    """Standard deviations and means."""
    return std(self, dim, correction, keepdim), mean(self, dim, keepdim, None)

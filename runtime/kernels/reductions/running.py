"""Running extremes and running sums of exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementwise.checks import Array, floating, normalize_dim
from ..shape.layout import in_order


def cummax(self: Array, dim: int) -> tuple[Array, Array]:
    """The largest elements so far, and where they stand; of equal ones and of nan the last."""
    return _running(np.maximum, self, dim)


def cummin(self: Array, dim: int) -> tuple[Array, Array]:
    """The smallest elements so far, and where they stand; of equal ones and of nan the last."""
    return _running(np.minimum, self, dim)


def _running(extreme: np.ufunc, self: Array, dim: int) -> tuple[Array, Array]:
    dim = normalize_dim(dim, self.ndim)
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    values = in_order(extreme.accumulate(self, dim))
    places = np.arange(self.shape[dim]).reshape(-1, *(1,) * (self.ndim - dim - 1))
    reached = np.where((self == values) | np.isnan(self), places, 0)
    return values, in_order(np.maximum.accumulate(reached, dim))


def logcumsumexp(self: Array, dim: int) -> Any:
    """Logarithms of the running sums of exponentials, which themselves are not computed."""
    floating("logcumsumexp", self)
    dim = normalize_dim(dim, self.ndim)
    if not self.ndim:
        return self.copy()
    return in_order(np.logaddexp.accumulate(self, dim))

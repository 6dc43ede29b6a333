"""Activations and softmax, in the forms that do not overflow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..summation import sums
from ..threads import in_threads
from .checks import Array, floating

_max_reduce: Any = np.maximum.reduce


def gelu(self: Array, share: Array, approximate: str) -> Any:
    """`self * share`; RuntimeError unless `approximate` is `none` or `tanh`."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return self * share


def softmax(self: Array, dim: int) -> Any:
    """Exponentials along a dimension, scaled to sum to one."""
    powers = in_threads(np.exp, _shifted("softmax", self, dim))
    powers /= sums(powers, dim, True)
    return powers


def log_softmax(self: Array, dim: int) -> Any:
    """The logarithm of the softmax, without taking it."""
    shifted = _shifted("log_softmax", self, dim)
    shifted -= np.log(sums(in_threads(np.exp, shifted), dim, True))
    return shifted


def _shifted(name: str, self: Array, dim: int) -> Any:
    """The array minus its largest element along a dimension."""
    floating(name, self)
    if not self.size:
        return self.copy()
    return self - _max_reduce(self, dim, keepdims=True)

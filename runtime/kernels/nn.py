"""Softmax and its kin, in the forms that do not overflow."""

from __future__ import annotations

import numpy as np

from .checks import Array, floating

_add_reduce = np.add.reduce
_max_reduce = np.maximum.reduce


def softmax(self: Array, dim: int) -> Array:
    """Exponentials along a dimension, scaled to sum to one."""
    floating("softmax", self)
    shifted = np.exp(self - _max_reduce(self, dim, keepdims=True))
    return shifted / _add_reduce(shifted, dim, keepdims=True)

"""Matrix products."""

from __future__ import annotations

import numpy as np

from .checks import Array, same_dtype

_matmul = np.matmul


def mm(self: Array, mat2: Array) -> Array:
    """The product of two matrices of one dtype."""
    if self.ndim != 2 or mat2.ndim != 2:
        raise RuntimeError(
            f"{'self' if self.ndim != 2 else 'mat2'} must be a matrix: mm() got tensors of "
            f"{self.ndim} and {mat2.ndim} dimensions"
        )
    if self.dtype is not mat2.dtype:
        same_dtype("mm", self, mat2)
    return _matmul(self, mat2)

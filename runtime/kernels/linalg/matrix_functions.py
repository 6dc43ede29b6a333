"""Functions of matrices that are given by series."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes.kinds import is_symbolic
from ..elementwise.checks import Array, floating


@np.errstate(all="ignore")
def matrix_exp(self: Array) -> Any:
    """Exponentials of square matrices, by SciPy; RuntimeError for others and without SciPy."""
    floating("linalg.matrix_exp", self)
    if self.ndim < 2 or self.shape[-1] != self.shape[-2]:
        raise RuntimeError(
            f"linalg.matrix_exp: A must be batches of square matrices, but they are {self.shape}"
        )
    if is_symbolic(self.dtype):  # the symbols of a proof know their own exponential
        symbols: Any = self
        return symbols.matrix_exp()
    if not self.size:
        return self.copy()
    try:
        from scipy.linalg import expm  # large: only who needs it waits for it
    except ImportError:
        raise RuntimeError("linalg.matrix_exp needs SciPy: pip install scipy") from None
    return np.asarray(expm(self)).astype(self.dtype)

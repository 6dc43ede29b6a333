"""The precision in which sums of many numbers are computed."""

from __future__ import annotations

import numpy as np

from .checks import HALF, Array


def for_sums(self: Array) -> Array:
    """Halves in single precision, so that they are rounded once, at the end; others as they are."""
    return self.astype(np.float32) if self.dtype == HALF else self

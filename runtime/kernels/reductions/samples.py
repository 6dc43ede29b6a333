"""Samples of several variables: what their observations weigh, and how long they may be."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype_kinds import is_symbolic
from ..elementwise.checks import Array, normalize_dim
from .norms import vector_norm

_TOO_SMALL = 1e-7
"""Keeps a quotient by a norm finite."""


def observation_weights(self: Array, count: int, are_frequencies: bool) -> Array:
    """Weights of so many observations; RuntimeError for others."""
    name, kind, kinds = (
        ("fweights", "integer", "iu") if are_frequencies else ("aweights", "float", "fO")
    )
    if self.ndim > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions")
    if self.dtype.kind not in kinds:
        raise RuntimeError(f"cov(): expected {name} to have {kind} dtype, but got {self.dtype}")
    if self.size != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same number of elements as there are observations "
            f"in the input, {count}, but got {self.size}"
        )
    if not is_symbolic(self.dtype) and (self < 0).any():
        raise RuntimeError(f"cov(): {name} cannot be negative")
    if count and not self.any():
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    return self.copy()


def renorm(self: Array, p: Any, dim: int, maxnorm: Any) -> Array:
    """Slices of a dimension, those whose norm is larger made shorter."""
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    dim = normalize_dim(dim, self.ndim)
    others = [axis for axis in range(self.ndim) if axis != dim]
    norm = vector_norm(self, p, others, True, None)
    return self * np.where(norm > maxnorm, maxnorm / (norm + _TOO_SMALL), 1)

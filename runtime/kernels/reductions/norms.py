"""Norms of vectors."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...fast.summation import sums
from ..elementwise.checks import HALF, Array, normalize_dim
from .sums import Dims, axes

# NumPy's stubs know no `keepdims` that is a variable.
_add_reduce: Any = np.add.reduce

_max_reduce: Any = np.maximum.reduce

_min_reduce: Any = np.minimum.reduce

_TOO_SMALL = 1e-7
"""Keeps a quotient by a norm finite."""


def vector_norm(self: Array, ord: Any, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    """The norm of order `ord` over some dimensions; 0 counts the elements that are not zero."""
    if isinstance(ord, str):
        raise TypeError("linalg_vector_norm(): argument 'ord' (position 2) must be Number, not str")
    if isinstance(ord, complex):
        raise RuntimeError(
            "linalg.vector_norm: Expected a non-complex scalar as the order of norm."
        )
    if self.dtype.kind in "iub" or (dtype is not None and np.dtype(dtype).kind in "iub"):
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{self.dtype}"
        )
    if dtype is not None and self.dtype.kind in "fc" and not np.can_cast(self.dtype, dtype):
        raise RuntimeError(
            f"linalg.vector_norm: {self.dtype} is not convertible to {np.dtype(dtype)} without "
            "narrowing"
        )
    if dtype is not None and self.dtype.kind == "f" and np.dtype(dtype).kind == "c":
        raise RuntimeError(
            f"linalg.vector_norm: dtype should be real for real inputs, but got {np.dtype(dtype)}"
        )
    x = np.abs(self if dtype is None else self.astype(dtype))
    if x.dtype is HALF:  # whose squares may be infinite
        return vector_norm(self, ord, dim, keepdim, np.float32).astype(HALF)
    axis = axes(dim)
    if (ord == inf or ord < 0) and not self.size and not _keeps_elements(self, axis):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor because the "
            "operation does not have an identity"
        )
    if ord != 0 and _is_alone(x, axis):  # whose powers may overflow, or underflow
        return _add_reduce(x, axis, keepdims=keepdim)
    if ord in (inf, -inf):
        extreme = _max_reduce if ord > 0 else _min_reduce
        return extreme(x, axis, keepdims=keepdim)
    if ord == 0:
        return _add_reduce((x != 0).astype(x.dtype), axis, keepdims=keepdim)
    if ord == 1:
        return _add_reduce(x, axis, keepdims=keepdim)
    if ord == 2:
        return np.sqrt(sums(x * x, axis, keepdim))
    return _add_reduce(x**ord, axis, keepdims=keepdim) ** (1 / ord)


def _is_alone(self: Array, axis: int | tuple[int, ...] | None) -> bool:
    """Return whether there is one element in each of the reductions."""
    if axis is None or not self.ndim:
        return self.size == 1
    chosen = (axis,) if isinstance(axis, int) else axis
    return all(self.shape[each] == 1 for each in chosen)


def _keeps_elements(self: Array, axis: int | tuple[int, ...] | None) -> bool:
    """Return whether each of the reductions has elements to reduce."""
    chosen = range(self.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    return all(self.shape[each] for each in chosen)


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

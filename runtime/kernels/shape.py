"""Views and joins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..promotion import promote
from .checks import Array, normalize_dim


def transpose(self: Array, dim0: int, dim1: int) -> Array:
    """A view with two dimensions exchanged; a scalar has nothing to exchange."""
    if self.ndim:
        return self.swapaxes(dim0, dim1)
    normalize_dim(dim0, 0)
    normalize_dim(dim1, 0)
    return self


def t(self: Array) -> Array:
    """A view of the transposed matrix."""
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.T


def cat(tensors: Sequence[Array], dim: int) -> Array:
    """Join arrays; empty ones of shape (0,) fit everywhere, as in PyTorch."""
    if not tensors:
        raise RuntimeError("cat(): expected a non-empty list of Tensors")
    for position, tensor in enumerate(tensors):
        if not tensor.ndim:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {position}) cannot be concatenated"
            )
    arrays = promote(*tensors)
    joined = [array for array in arrays if array.shape != (0,)] or arrays
    dim = normalize_dim(dim, joined[0].ndim)
    return np.concatenate(joined, dim)


def cat_backward(self: Array, tensors: Sequence[Array], dim: int) -> list[Array]:
    """Views of the parts that were joined, each in the dtype of its origin."""
    parts = []
    start = 0
    for tensor in tensors:
        part = self[:0] if self.ndim == 1 else self[(slice(0),) * self.ndim].reshape(0)
        if tensor.shape != (0,):
            stop = start + tensor.shape[dim]
            part = self[(slice(None),) * normalize_dim(dim, self.ndim) + (slice(start, stop),)]
            start = stop
        parts.append(part if tensor.dtype is self.dtype else part.astype(tensor.dtype, copy=False))
    return parts


def to_copy(self: Array, dtype: Any) -> Array:
    """A copy, in another dtype if one is given."""
    return self.copy() if dtype is None else self.astype(dtype)

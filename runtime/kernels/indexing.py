"""Parts of arrays, and zeros around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .checks import Array, normalize_dim


def where(condition: Array, self: Array, other: Array) -> Array:
    """`np.where` of a bool condition."""
    if condition.dtype.kind != "b":
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{condition.dtype}"
        )
    return np.where(condition, self, other)


def select(self: Array, dim: int, index: int) -> Array:
    """A view of one slice of a dimension, which disappears."""
    return self[_place(self.shape, dim, index)]


def select_backward(
    grad_output: Array, input_sizes: Sequence[int], dim: int, index: int
) -> Array:
    """Zeros with `grad_output` in one slice of a dimension."""
    out = np.zeros_like(grad_output, shape=input_sizes)
    out[_place(input_sizes, dim, index)] = grad_output
    return out


def _place(shape: Sequence[int], dim: int, index: int) -> tuple[Any, ...]:
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = normalize_dim(dim, len(shape))
    if not -shape[dim] <= index < shape[dim]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(shape)} at dimension "
            f"{dim}"
        )
    return (*(slice(None),) * dim, index, ...)

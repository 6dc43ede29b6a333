"""Distances between vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementwise.checks import ArgumentError, Array, same_dtype
from ..reductions.norms import vector_norm

_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


def cdist(x1: Array, x2: Array, p: float, compute_mode: str | None) -> Any:
    """Distances of order `p` between all rows of two matrices, whose batches broadcast."""
    for name, array in (("X1", x1), ("X2", x2)):
        if array.ndim < 2:
            raise RuntimeError(
                f"cdist only supports at least 2D tensors, {name} got: {array.ndim}D"
            )
        _check_order("cdist", array, p)
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    if compute_mode is not None and compute_mode not in _MODES:
        raise ArgumentError(f"{compute_mode} is not a valid value for compute_mode")
    same_dtype("cdist", x1, x2)
    return _lengths(x1[..., :, None, :] - x2[..., None, :, :], p)


def pdist(self: Array, p: float) -> Any:
    """Distances of order `p` between every two rows."""
    if self.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {self.ndim}D")
    _check_order("pdist", self, p)
    first, second = row_pairs(self)
    return _lengths(self[first] - self[second], p)


def row_pairs(self: Array) -> tuple[Array, Array]:
    """The positions of every two rows, the earlier and the later ones."""
    first, second = np.triu_indices(len(self), 1)
    return first, second


def _lengths(difference: Array, p: float) -> Any:
    """Norms along the last dimension; those of vectors without elements are zero."""
    if not difference.shape[-1]:
        return np.zeros_like(difference, order="C", shape=difference.shape[:-1])
    return vector_norm(difference, p, -1, False, None)


def _check_order(name: str, array: Array, p: float) -> None:
    if array.dtype.kind in "iubc":
        raise RuntimeError(f"{name} only supports floating-point dtypes, got: {array.dtype}")
    if p < 0:
        raise RuntimeError(f"{name} only supports non-negative p values")

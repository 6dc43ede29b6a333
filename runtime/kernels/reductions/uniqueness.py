"""The elements or slices of an array that differ, with the places of all in them and counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementwise.checks import Array, normalize_dim

Found = tuple[Array, Array, Array]
"""What differs, where each went, and counts."""


def unique(self: Array) -> Found:
    """The elements that differ, in order; nan differs from nan."""
    _refuse_complex(self)
    values, inverse, counts = np.unique(
        self.reshape(-1), return_inverse=True, return_counts=True, equal_nan=False
    )
    return values, inverse.reshape(self.shape), counts


def unique_dim(self: Array, dim: int) -> Found:
    """The slices of a dimension that differ, in order."""
    _refuse_complex(self)
    dim = _filled_dim(self, dim)
    if not self.size:
        return self.copy(), np.zeros(0, np.int64), np.zeros(0, np.int64)
    values, inverse, counts = np.unique(
        self, return_inverse=True, return_counts=True, axis=dim, equal_nan=False
    )
    return values, inverse.reshape(-1), counts


def unique_consecutive(self: Array, dim: int | None) -> Found:
    """The elements, or the slices of a dimension, that differ from the one before."""
    slices = self.reshape(-1) if dim is None else np.moveaxis(self, _filled_dim(self, dim), 0)
    begins = np.ones(len(slices), bool)
    differs: Any = slices[1:] != slices[:-1]
    begins[1:] = differs.reshape(len(differs), -1).any(1) if len(differs) else False
    counts = np.diff(np.append(begins.nonzero()[0], len(slices)))
    inverse = np.cumsum(begins) - 1
    if dim is None:
        return slices[begins], inverse.reshape(self.shape), counts
    return np.moveaxis(slices[begins], 0, dim).copy(order="C"), inverse, counts


def _filled_dim(self: Array, dim: int) -> int:
    dim = normalize_dim(dim, self.ndim)
    if not all(length for axis, length in enumerate(self.shape) if axis != dim):
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    return dim


def _refuse_complex(self: Array) -> None:
    if self.dtype.kind == "c":
        raise NotImplementedError("unique is not implemented for complex numbers")

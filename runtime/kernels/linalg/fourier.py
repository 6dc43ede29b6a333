"""Fourier transforms by NumPy's, which keep single precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import constants
from ..elementwise.checks import Array


@np.errstate(all="ignore")
def fft_c2c(self: Array, dim: Sequence[int], normalization: int, inverse: bool) -> Any:
    """The transform, or the inverse one, over some dimensions."""
    if inverse:
        sums = np.fft.ifftn(self, axes=tuple(dim), norm="forward")
    else:
        sums = np.fft.fftn(self, axes=tuple(dim))
    return _normalized(sums, _count(self.shape, dim), normalization)


@np.errstate(all="ignore")
def fft_r2c(self: Array, dim: Sequence[int], normalization: int, onesided: bool) -> Any:
    """The transform of real numbers; RuntimeError for complex ones."""
    if self.dtype.kind == "c":
        raise RuntimeError(f"expected a real input tensor, but got {self.dtype}")
    transform = np.fft.rfftn if onesided else np.fft.fftn
    sums = transform(self, axes=tuple(dim))
    return _normalized(sums, _count(self.shape, dim), normalization)


@np.errstate(all="ignore")
def fft_c2r(self: Array, dim: Sequence[int], normalization: int, last_dim_size: int) -> Any:
    """The real numbers that have the transform of which one half is given."""
    sizes = [self.shape[each] for each in dim[:-1]] + [last_dim_size]
    sums = np.fft.irfftn(self, s=sizes, axes=tuple(dim), norm="forward")
    return _normalized(sums, _count(sums.shape, dim), normalization)


def lengthened(self: Array, dim: int, size: int) -> Array:
    """Zeros after the array along a dimension, up to a length."""
    shape = list(self.shape)
    shape[dim] = size
    out = np.zeros_like(self, order="C", shape=shape)
    np.moveaxis(out, dim, 0)[: self.shape[dim]] = np.moveaxis(self, dim, 0)
    return out


def _count(shape: Sequence[int], dim: Sequence[int]) -> int:
    """Count the terms of each sum of a transform."""
    count = 1
    for each in dim:
        count *= shape[each]
    return count


def _normalized(sums: Any, count: int, normalization: int) -> Any:
    if normalization == 0:
        return sums
    return sums / (constants.sqrt(count) if normalization == 1 else count)

"""Order along a dimension: stable throughout, so that it is also the stable sort."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...fast.parallel_for import along
from ...fast.tuning import PARTITION_MIN
from ..elementwise.checks import Array, normalize_dim
from ..shape.layout import in_order


def sort(self: Array, dim: int, descending: bool) -> tuple[Any, Any]:
    """The elements in order, nan counting as the largest, and where each came from."""
    dim = normalize_dim(dim, self.ndim)
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    values, indices = along(lambda part: _sorted(part, dim, descending), self, dim)
    return values, indices


def _sorted(self: Array, dim: int, descending: bool) -> tuple[Array, Array]:
    if descending:
        # The stable order of the mirror image, mirrored: equal elements stay in their order.
        mirrored = np.flip(self, dim).argsort(dim, kind="stable")
        indices = self.shape[dim] - 1 - np.flip(mirrored, dim)
    else:
        indices = self.argsort(dim, kind="stable")
    return np.take_along_axis(self, indices, dim), indices


def topk(self: Array, k: int, dim: int, largest: bool) -> tuple[Any, Any]:
    """The first `k` elements in descending order, or in ascending order."""
    dim = normalize_dim(dim, self.ndim)
    if not 0 <= k <= (self.shape[dim] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    indices = _first(self, k, dim, largest)
    if indices is not None:
        return np.take_along_axis(self, indices, dim), indices
    values, indices = sort(self, dim, largest)
    if not self.ndim:
        return values, indices
    first = (*(slice(None),) * dim, slice(k))
    return in_order(values[first]), in_order(indices[first])


def _first(self: Array, k: int, dim: int, largest: bool) -> Array | None:
    """Where the first `k` elements are, without ordering the others.

    None where that would not pay, or where equal elements or nan make it a matter of the order.
    """
    if self.dtype.kind not in "fi" or self.size < PARTITION_MIN or not 0 < 4 * k <= self.shape[dim]:
        return None
    rows = np.moveaxis(self, dim, -1)
    border = -k if largest else k - 1

    def chosen(rows: Array) -> Array:
        last = np.partition(rows, border, axis=-1)[..., border, None]
        return rows >= last if largest else rows <= last

    among = along(chosen, rows, rows.ndim - 1)
    if (np.count_nonzero(among, axis=-1) != k).any() or np.isnan(rows).any():
        return None
    found = among.nonzero()[-1].reshape(*rows.shape[:-1], k)
    _, order = sort(np.take_along_axis(rows, found, -1), found.ndim - 1, largest)
    return in_order(np.moveaxis(np.take_along_axis(found, order, -1), -1, dim))


def kthvalue(self: Array, k: int, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """The `k`-th smallest element, counted from one."""
    dim = normalize_dim(dim, self.ndim)
    if self.ndim and not self.shape[dim]:
        raise IndexError(f"kthvalue(): Expected reduction dim {dim} to have non-zero size.")
    if not 1 <= k <= (self.shape[dim] if self.ndim else 1):
        raise RuntimeError("kthvalue(): selected number k out of range for dimension")
    values, indices = sort(self, dim, False)
    if not self.ndim:
        return values, indices
    place = (*(slice(None),) * dim, slice(k - 1, k) if keepdim else k - 1, ...)
    return values[place], indices[place]


def nonzero(self: Array) -> Any:
    """The positions of the elements that are not zero, one row each."""
    if not self.ndim:
        return np.zeros((int(bool(self)), 0), np.int64)
    return np.stack(self.nonzero()).T  # in whose order PyTorch has them in memory, too

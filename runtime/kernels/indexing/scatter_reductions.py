"""Elements that meet at one place, reduced to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtype_kinds import DIFFERENTIABLE_KINDS
from ...core.type_promotion import type_name
from ..elementwise.checks import Array
from .adding import add_at
from .scattering import places_of, values_for

_REDUCTIONS: dict[str, Callable[[Array, tuple[Any, ...], Array], None]] = {
    "sum": add_at,
    "mean": add_at,
    "prod": np.multiply.at,
    "amax": np.maximum.at,
    "amin": np.minimum.at,
}


def scatter_reduce(
    self: Array, dim: int, index: Array, src: Array, reduce: str, include_self: bool
) -> Array:
    """A copy where the elements that meet at one position are reduced to one."""
    if reduce not in _REDUCTIONS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    if (self.dtype.kind, reduce) in (("b", "mean"), ("c", "amax"), ("c", "amin")):
        raise NotImplementedError(f"{reduce!r} not implemented for '{type_name(self.dtype)}'")
    places, values = places_of(self.shape, dim, index), values_for(index, src, self)
    out = np.atleast_1d(self.copy())
    if not include_self:
        # The greatest and the smallest of some numbers may be compared with one of them again.
        out[places] = {"prod": 1, "sum": 0, "mean": 0}.get(reduce, values)
    _REDUCTIONS[reduce](out, places, values)
    if reduce == "mean":
        count = np.atleast_1d(scatter_count(self, dim, index, include_self))
        out = out / count if self.dtype.kind in DIFFERENTIABLE_KINDS else out // count
    return out.reshape(self.shape)


def scatter_count(self: Array, dim: int, index: Array, include_self: bool) -> Array:
    """How many elements meet at each position, at least one; in the dtype of the elements."""
    count = np.full(self.shape or (1,), int(include_self))
    np.add.at(count, places_of(self.shape, dim, index), 1)
    return np.maximum(count, 1).astype(self.dtype).reshape(self.shape)


def flat_places(self: Array, dim: int, index: Array) -> Array:
    """Where in the flattened array the positions along a dimension are, in one list."""
    places = np.broadcast_arrays(*places_of(self.shape, dim, index))
    return np.ravel_multi_index([place.reshape(-1) for place in places], self.shape or (1,))

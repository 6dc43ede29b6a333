"""Largest and smallest elements: their values, their positions, and the ways back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dtypes.whole_numbers import dim_number
from ..elementwise.checks import Array, normalize_dim
from .sums import Dims, axes

_max_reduce: Any = np.maximum.reduce

_min_reduce: Any = np.minimum.reduce


def amax(self: Array, dim: Dims, keepdim: bool) -> Any:
    """The largest elements over some dimensions."""
    chosen = axes(dim)
    _not_empty("amax", self, chosen)
    return _max_reduce(self, chosen, None, None, keepdim)


def amin(self: Array, dim: Dims, keepdim: bool) -> Any:
    """The smallest elements over some dimensions."""
    chosen = axes(dim)
    _not_empty("amin", self, chosen)
    return _min_reduce(self, chosen, None, None, keepdim)


def aminmax(self: Array, dim: int | None, keepdim: bool) -> tuple[Any, Any]:
    """The smallest and the largest elements, over one dimension or all of them."""
    chosen = None if dim is None else dim_number(dim)
    return amin(self, chosen, keepdim), amax(self, chosen, keepdim)


def max(self: Array) -> Any:
    """The largest of all elements."""
    if not self.size:
        raise _nothing_to_reduce("max")
    return np.maximum.reduce(self, None)


def min(self: Array) -> Any:
    """The smallest of all elements."""
    if not self.size:
        raise _nothing_to_reduce("min")
    return np.minimum.reduce(self, None)


def is_extreme(self: Array, extreme: Array) -> Any:
    """Find the first largest or smallest of all elements, which is nan if one of them is."""
    return self == extreme if extreme == extreme else np.isnan(self)


def max_with_indices(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The largest elements along a dimension and their positions; the first NaN wins."""
    return _pick(self, _position("max", np.argmax, self, dim, True), dim, keepdim)


def min_with_indices(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The smallest elements along a dimension and their positions; the first NaN wins."""
    return _pick(self, _position("min", np.argmin, self, dim, True), dim, keepdim)


def argmax(self: Array, dim: int | None, keepdim: bool) -> Any:
    """Find the largest element along a dimension or in the flattened array."""
    _not_bool("argmax", self)
    return _position("argmax", np.argmax, self, dim, keepdim)


def argmin(self: Array, dim: int | None, keepdim: bool) -> Any:
    """Find the smallest element along a dimension or in the flattened array."""
    _not_bool("argmin", self)
    return _position("argmin", np.argmin, self, dim, keepdim)


def _position(name: str, position: Any, self: Array, dim: int | None, keepdim: bool) -> Any:
    if dim is not None:
        dim = normalize_dim(dim, self.ndim)
        _not_empty(name, self, dim)
    elif not self.size:
        raise IndexError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
        )
    if not self.ndim:
        return np.zeros((), np.int64)
    return position(self, dim, keepdims=keepdim)


def _pick(self: Array, indices: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    if not self.ndim:
        return self.copy(), indices
    values = np.take_along_axis(self, indices, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def take_along_dim(self: Array, dim: int, indices: Array, keepdim: bool) -> Array:
    """The elements at the positions that a reduction picked."""
    if not self.ndim:
        return self.copy()
    if keepdim:
        return np.take_along_axis(self, indices, dim)
    return np.take_along_axis(self, np.expand_dims(indices, dim), dim).squeeze(dim)


def put_along_dim(
    self: Array, shape: Sequence[int], dim: int, indices: Array, keepdim: bool
) -> Array:
    """Zeros with `self` at the positions that a reduction picked."""
    if not shape:
        return self.copy()
    if not keepdim:
        self, indices = np.expand_dims(self, dim), np.expand_dims(indices, dim)
    out = np.zeros_like(self, order="C", shape=shape)
    np.put_along_axis(out, indices, self, dim)
    return out


def _not_bool(name: str, self: Array) -> None:
    if self.dtype.kind == "b":
        raise RuntimeError(f"{name}(): does not support bool input")


def _not_empty(name: str, self: Array, dims: int | tuple[int, ...] | None) -> None:
    """Raise unless there is an element to find in each of the reduced dimensions."""
    if self.size:
        return
    if dims is None:
        raise _nothing_to_reduce(name)
    for dim in dims if isinstance(dims, tuple) else (dims,):
        if not self.shape[dim]:
            raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")


def _nothing_to_reduce(name: str) -> RuntimeError:
    return RuntimeError(
        f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
        "reduction dim with the 'dim' argument."
    )

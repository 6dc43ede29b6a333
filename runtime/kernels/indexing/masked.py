"""Elements under masks, and at positions in the flattened array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dtypes.number_conversion import converted
from ...dtypes.promotion import type_name
from ..elementwise.checks import Array
from ..elementwise.masking import where


def masked_fill(self: Array, mask: Array, value: Any) -> Array:
    """A copy with one value wherever the mask is true."""
    if mask.dtype.kind != "b":
        raise RuntimeError(
            f"masked_fill only supports boolean masks, but got mask with dtype {mask.dtype}"
        )
    if isinstance(value, np.ndarray) and value.ndim:
        raise RuntimeError(
            "masked_fill only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if type(value) is np.ndarray and value.dtype != self.dtype and value.dtype.kind in "biufc":
        value = value.item()  # which has to fit, as a number has
    value = np.asanyarray(converted(value, self.dtype))
    return where(mask, value.astype(self.dtype), self)


def take(self: Array, index: Array) -> Any:
    """The elements at places of the flattened array; negative ones count from the end."""
    _check_places("take", self, index)
    return np.take(self, index)


def take_backward(self: Array, shape: Sequence[int], index: Array) -> Array:
    """Zeros with `self` added at places of the flattened array."""
    out = np.zeros_like(self, order="C", shape=int(np.prod(shape)))
    np.add.at(out, index.reshape(-1), self.reshape(-1))
    return out.reshape(shape)


def put(self: Array, index: Array, source: Array, accumulate: bool) -> Array:
    """A copy with `source` at places of the flattened array, or added there."""
    _check_places("put_", self, index)
    if source.dtype != self.dtype:
        raise _two_dtypes("put_", self, source)
    if source.size != index.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.size}, index.numel() = {index.size}"
        )
    out = self.reshape(-1).copy()
    places, values = index.reshape(-1), source.reshape(-1)
    if accumulate:
        np.add.at(out, places, values)
    else:
        out[places] = values
    return out.reshape(self.shape)


def _check_places(name: str, self: Array, index: Array) -> None:
    if index.dtype != np.int64:
        raise RuntimeError(
            f"{name}(): Expected a long tensor for index, but got {type_name(index.dtype)}"
        )
    if not index.size:
        return
    if not self.size:
        raise IndexError(f"{name}(): there are no elements in an empty tensor")
    if not -self.size <= index.min() <= index.max() < self.size:
        outside = index[(index < -self.size) | (index >= self.size)]
        raise IndexError(
            f"out of range: tried to access index {outside.flat[0]} on a tensor of {self.size} "
            "elements."
        )


def _two_dtypes(name: str, self: Array, source: Array) -> RuntimeError:
    return RuntimeError(
        f"{name}(): self and source expected to have the same dtype, but got self.dtype = "
        f"{type_name(self.dtype)} and source.dtype = {type_name(source.dtype)}"
    )


def masked_select(self: Array, mask: Array) -> Any:
    """The elements at which a mask is true; the two broadcast."""
    shape = _masked_shape("masked_select", self.shape, mask)
    return np.broadcast_to(self, shape, subok=True)[np.broadcast_to(mask, shape)]


def masked_put(self: Array, shape: Sequence[int], mask: Array) -> Array:
    """Zeros with the first elements of `self` where a mask is true."""
    out = np.zeros_like(self, order="C", shape=_masked_shape("masked_select", shape, mask))
    _write_masked(out, mask, self)
    return out


def masked_take(self: Array, mask: Array, shape: Sequence[int]) -> Array:
    """The elements at which a mask is true, then zeros."""
    found = masked_select(self, mask)
    out = np.zeros_like(self, order="C", shape=int(np.prod(shape)))
    out[: found.size] = found
    return out.reshape(shape)


def masked_scatter(self: Array, mask: Array, source: Array) -> Array:
    """A copy with the first elements of `source` where a mask is true."""
    shape = _masked_shape("masked_scatter_", self.shape, mask)
    if source.dtype != self.dtype:
        raise _two_dtypes("masked_scatter_", self, source)
    out = np.array(np.broadcast_to(self, shape, subok=True), order="C", subok=True)
    _write_masked(out, mask, source)
    return out


def _masked_shape(name: str, shape: Sequence[int], mask: Array) -> tuple[int, ...]:
    if mask.dtype.kind != "b":
        raise RuntimeError(
            f"{name}: expected BoolTensor for mask, but got mask with dtype {type_name(mask.dtype)}"
        )
    return np.broadcast_shapes(tuple(shape), mask.shape)


def _write_masked(out: Array, mask: Array, source: Array) -> None:
    chosen = np.broadcast_to(mask, out.shape)
    count = int(np.count_nonzero(chosen))
    if source.size < count:
        raise RuntimeError("masked_scatter: Number of elements of source < number of ones in mask")
    out[chosen] = source.reshape(-1)[:count]

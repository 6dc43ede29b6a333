"""New tensors in the dtype of another one, and the positions in triangles of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.devices import check_device
from ..core.tensor import Tensor, wrap
from ..dtypes.promotion import type_name
from .creation import empty_strided, full, leaf, size_of, tensor


def new_zeros(
    self: Tensor,
    *size: Any,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **named: Any,
) -> Tensor:
    """Zeros in the dtype of this tensor, or the given one."""
    return leaf(np.zeros(*_form("new_zeros", self, size, named, dtype, device)), requires_grad)


def new_ones(
    self: Tensor,
    *size: Any,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **named: Any,
) -> Tensor:
    """Ones in the dtype of this tensor, or the given one."""
    return leaf(np.ones(*_form("new_ones", self, size, named, dtype, device)), requires_grad)


def new_empty(
    self: Tensor,
    *size: Any,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **named: Any,
) -> Tensor:
    """Elements that are not set, in the dtype of this tensor, or the given one."""
    return leaf(np.empty(*_form("new_empty", self, size, named, dtype, device)), requires_grad)


def new_empty_strided(
    self: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Elements that are not set, at these distances; see `empty_strided`."""
    check_device("new_empty_strided", device)
    chosen = self.array.dtype if dtype is None else dtype
    return empty_strided(size, stride, dtype=chosen, requires_grad=requires_grad)


def _form(
    name: str, like: Tensor, size: tuple[Any, ...], named: dict[str, Any], dtype: Any, device: Any
) -> tuple[tuple[int, ...], Any]:
    """The shape and the dtype of a new array."""
    check_device(name, device)
    chosen = like.array.dtype if dtype is None else np.dtype(dtype)
    return size_of(name, size, named, chosen), chosen


def new_full(
    self: Tensor,
    size: Sequence[int],
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`fill_value` everywhere, in the dtype of this tensor, or the given one."""
    check_device("new_full", device)
    chosen = self.array.dtype if dtype is None else dtype
    return full(size, fill_value, dtype=chosen, requires_grad=requires_grad)


def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A leaf with a copy of `data`, in the dtype of this tensor, or the given one."""
    check_device("new_tensor", device)
    chosen = self.array.dtype if dtype is None else dtype
    return tensor(data, dtype=chosen, requires_grad=requires_grad)


def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = np.int64, device: Any = None
) -> Tensor:
    """The positions on and below a diagonal of a matrix: a row of rows, a row of columns."""
    return _triangle("tril_indices", row, col, dtype, device, lambda i, j: j - i <= offset)


def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = np.int64, device: Any = None
) -> Tensor:
    """The positions on and above a diagonal of a matrix: a row of rows, a row of columns."""
    return _triangle("triu_indices", row, col, dtype, device, lambda i, j: j - i >= offset)


def _triangle(name: str, row: int, col: int, dtype: Any, device: Any, holds: Any) -> Tensor:
    check_device(name, device)
    if row < 0 or col < 0:
        raise RuntimeError(f"{name}: row and col must be non-negative, got {row} and {col}")
    if np.dtype(dtype) not in (np.int64, np.int32):
        raise NotImplementedError(f"\"{name}\" not implemented for '{type_name(np.dtype(dtype))}'")
    inside = holds(*np.ogrid[:row, :col])
    return wrap(np.stack(np.nonzero(inside)).astype(dtype))


class NewTensorMethods:
    """Methods of `Tensor` that make new tensors of its dtype."""

    __slots__ = ()

    new_zeros = new_zeros
    new_ones = new_ones
    new_empty = new_empty
    new_empty_strided = new_empty_strided
    new_full = new_full
    new_tensor = new_tensor

"""New tensors in the dtype of another one, and the positions in triangles of matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..batching.batched import Batched, batch
from ..core.devices import check_device
from ..core.tensor import Tensor, wrap
from ..dtypes.promotion import type_name
from ..dtypes.whole_numbers import whole_number
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
    check_device("new_zeros", device)
    return _made(np.zeros, self, size_of("new_zeros", size, named), dtype, requires_grad)


def new_ones(
    self: Tensor,
    *size: Any,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **named: Any,
) -> Tensor:
    """Ones in the dtype of this tensor, or the given one."""
    check_device("new_ones", device)
    return _made(np.ones, self, size_of("new_ones", size, named), dtype, requires_grad)


def new_empty(
    self: Tensor,
    *size: Any,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **named: Any,
) -> Tensor:
    """Elements that are not set, in the dtype of this tensor, or the given one."""
    check_device("new_empty", device)
    return _made(np.empty, self, size_of("new_empty", size, named), dtype, requires_grad)


def _made(
    make: Callable[[tuple[int, ...], Any], Any],
    like: Tensor,
    shape: tuple[int, ...],
    dtype: Any,
    requires_grad: bool,
) -> Tensor:
    """A new leaf in the dtype of a tensor, or the given one; for a batched one, of each example."""
    if isinstance(like, Batched):
        shape = (like.level.size, *shape)
        return batch(_made(make, like.physical, shape, dtype, requires_grad), like.level)
    return leaf(make(shape, like.array.dtype if dtype is None else np.dtype(dtype)), requires_grad)


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
    return _made(
        lambda shape, dtype: full(shape, fill_value, dtype=dtype).array,
        self,
        tuple(size),
        dtype,
        requires_grad,
    )


def new_empty_strided(
    self: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Elements that are not set, with these distances between neighbours: see `empty_strided`."""
    check_device("new_empty_strided", device)
    if len(size) != len(stride):  # else those of examples of `vmap` would be added
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides "
            f"({len(stride)})"
        )
    return _made(
        lambda shape, dtype: empty_strided(shape, _with_examples(shape, stride), dtype=dtype).array,
        self,
        tuple(size),
        dtype,
        requires_grad,
    )


def _with_examples(shape: Sequence[int], stride: Sequence[int]) -> list[int]:
    """The distances in the memory of all examples, one behind the other, from those in one."""
    distances = list(stride)
    for _ in shape[len(stride) :]:
        of_one = shape[len(shape) - len(distances) :]
        last = sum((n - 1) * d for n, d in zip(of_one, distances, strict=True))
        distances.insert(0, 1 + last if all(of_one) else 0)
    return distances


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
    row, col = whole_number(name, "row", row), whole_number(name, "col", col)
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

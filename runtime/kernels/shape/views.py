"""Views, joins and copies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from ...core.memory_format import (
    contiguous_format,
    outermost_first,
    preserve_format,
    wrong_rank,
)
from ...core.memory_format import memory_format as MemoryFormat
from ...dtypes.kinds import is_symbolic
from ...dtypes.promotion import LAST_INTEGER, promote
from ...dtypes.whole_numbers import dim_numbers
from ..elementwise.checks import ArgumentError, Array, normalize_dim
from ..reductions.unbroadcast import reduce_to
from .layout import in_order, in_order_of


def alias(self: Array) -> Array:
    """A view of the whole array."""
    return self[...]


def copied(self: Array | Sequence[Array]) -> Any:
    """A copy in row-major order, or copies of each of several arrays."""
    return self.copy() if isinstance(self, np.ndarray) else [array.copy() for array in self]


def view(self: Array, size: Sequence[int], copy: bool) -> Array:
    """The same memory in another shape; RuntimeError if that needs a copy, unless one may be."""
    if min(size, default=0) < -1:
        raise _invalid_shape(size)
    out = self.reshape(size)
    if not copy and not self.flags.c_contiguous and not np.may_share_memory(out, self):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return out


def _invalid_shape(size: Sequence[int]) -> RuntimeError:
    place = next(place for place, length in enumerate(size) if length < -1)
    return RuntimeError(
        f"invalid shape dimension {size[place]} at index {place} of shape {[*size]}"
    )


def view_as_dtype(self: Array, dtype: Any) -> Array:
    """The same memory as numbers of another dtype; RuntimeError where these do not fit into it."""
    wanted = np.dtype(dtype)
    if is_symbolic(self.dtype) or self.dtype == wanted:
        return self[...]
    old, new = self.itemsize, wanted.itemsize
    if old == new:
        return self.view(wanted)
    what = f"to view {self.dtype} as {wanted} (different element sizes)"
    if not self.ndim:
        raise RuntimeError(f"self.dim() cannot be 0 {what}")
    step = self.strides[-1] // old
    if step != 1 and self.size:
        raise RuntimeError(f"self.stride(-1) must be 1 {what}, but got {step}")
    if new > old:
        _check_widths(self, new // old, what)
    if not self.size:
        return np.empty((*self.shape[:-1], self.shape[-1] * old // new), wanted)
    return self.view(wanted)


def _check_widths(self: Array, ratio: int, what: str) -> None:
    """Refuse memory of which the wider numbers do not begin where the narrower ones do."""
    if self.shape[-1] % ratio:
        length = self.shape[-1]
        raise RuntimeError(f"self.size(-1) must be divisible by {ratio} {what}, but got {length}")
    base = self if self.base is None else self.base
    if not self.size:
        return
    if isinstance(base, np.ndarray):
        lowest = np.lib.array_utils.byte_bounds(base)[0]
        offset = (self.__array_interface__["data"][0] - lowest) // self.itemsize
        if offset % ratio:
            raise RuntimeError(
                f"self.storage_offset() must be divisible by {ratio} {what}, but got {offset}"
            )
    for dim, stride in enumerate(self.strides[:-1]):
        step = stride // self.itemsize
        if step % ratio:
            raise RuntimeError(
                f"self.stride({dim}) must be divisible by {ratio} {what}, but got {step}"
            )


def expand(self: Array, size: Sequence[int]) -> Array:
    """A read-only view that repeats dimensions of length one; -1 keeps a length."""
    new = len(size) - self.ndim
    if new < 0:
        raise RuntimeError(
            f"expand(): the number of sizes provided ({len(size)}) must be greater or equal to "
            f"the number of dimensions in the tensor ({self.ndim})"
        )
    shape = list(size)
    for dim, length in enumerate(self.shape, new):
        if shape[dim] == -1:
            shape[dim] = length
        elif length not in (1, shape[dim]):
            raise RuntimeError(
                f"The expanded size of the tensor ({shape[dim]}) must match the existing size "
                f"({length}) at non-singleton dimension {dim}."
            )
    if min(shape, default=0) < 0:
        raise RuntimeError(
            f"The expanded size of the tensor ({min(shape)}) isn't allowed in a leading, "
            "non-existing dimension"
        )
    return np.broadcast_to(self, shape, subok=True)


def sum_to_size(self: Array, size: Sequence[int]) -> Array:
    """Sums over the dimensions that expanding `size` to this shape would repeat."""
    size = tuple(size)
    if not _is_expandable(size, self.shape):
        raise RuntimeError(f"size {list(size)} is not expandable to size {list(self.shape)}.")
    return reduce_to(self, (size, self.dtype))


@lru_cache(maxsize=1024)
def _is_expandable(size: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Remembered, because a training loop asks the same thing on every step."""
    new = len(shape) - len(size)
    return new >= 0 and all(
        length in (1, given) for length, given in zip(size, shape[max(new, 0) :], strict=True)
    )


def transpose(self: Array, dim0: int, dim1: int) -> Array:
    """A view with two dimensions exchanged; a scalar has nothing to exchange."""
    if self.ndim:
        return self.swapaxes(dim0, dim1)
    normalize_dim(dim0, 0)
    normalize_dim(dim1, 0)
    return self


def t(self: Array) -> Array:
    """A view of the transposed matrix."""
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.T


def permute(self: Array, dims: Sequence[int]) -> Array:
    """A view with its dimensions in another order."""
    if len(dims) != self.ndim:
        raise RuntimeError(
            f"permute(): the number of dimensions in the tensor input ({self.ndim}) does not "
            f"match the length of the desired ordering of dimensions ({len(dims)})"
        )
    return self.transpose(dims) if dims else self


def permute_backward(self: Array, dims: Sequence[int]) -> Array:
    """A view with its dimensions back in the order before `permute`."""
    order = [0] * self.ndim
    for position, dim in enumerate(dims):
        order[dim] = position
    return permute(self, order)


def unsqueeze(self: Array, dim: int) -> Array:
    """A view with one more dimension."""
    return self[(slice(None),) * normalize_dim(dim, self.ndim + 1) + (None, ...)]


def squeeze(self: Array, dim: int | Sequence[int] | None) -> Array:
    """A view without dimensions of length one."""
    if dim is None:
        return self.squeeze()
    dims = [normalize_dim(each, self.ndim) for each in dim_numbers(dim)]
    if len({*dims}) < len(dims):
        twice = next(each for each in dims if dims.count(each) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return self.squeeze(tuple(each for each in dims if self.ndim and self.shape[each] == 1))


def flip(self: Array, dims: int | Sequence[int]) -> Array:
    """A copy with some dimensions in reverse order."""
    key: list[Any] = [slice(None)] * self.ndim
    normalized = [normalize_dim(each, self.ndim) for each in dim_numbers(dims)]
    if len({*normalized}) < len(normalized):
        raise ValueError("repeated axis in `dims`")
    for dim in normalized:
        if self.ndim:
            key[dim] = slice(None, None, -1)
    return self[(*key, ...)].copy("K")


def tril(self: Array, diagonal: int) -> Array:
    """The lower triangle of matrices."""
    _matrices("tril", self)
    return np.tril(self, diagonal)


def triu(self: Array, diagonal: int) -> Array:
    """The upper triangle of matrices."""
    _matrices("triu", self)
    return np.triu(self, diagonal)


def _matrices(name: str, self: Array) -> None:
    if self.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


def cat(tensors: Sequence[Array], dim: int) -> Array:
    """Join arrays; empty ones of shape (0,) fit everywhere, and along every dimension."""
    if not tensors:
        raise ArgumentError("cat(): expected a non-empty list of Tensors")
    for position, tensor in enumerate(tensors):
        if not tensor.ndim:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {position}) cannot be concatenated"
            )
    arrays = promote(*tensors)
    joined = [array for array in arrays if array.shape != (0,)]
    if not joined:
        return np.concatenate(arrays)
    return in_order(np.concatenate(joined, normalize_dim(dim, joined[0].ndim)))


def cat_backward(self: Array, tensors: Sequence[Array], dim: int) -> list[Array]:
    """Views of the parts that were joined, each in the dtype of its origin."""
    is_empty = self.shape == (0,)  # of parts that fit along every dimension
    before = () if is_empty else (slice(None),) * normalize_dim(dim, self.ndim)
    parts = []
    start = 0
    for tensor in tensors:
        if tensor.shape == (0,):
            part = self[(slice(0),) * self.ndim].reshape(0)
        else:
            part = self[(*before, slice(start, start + tensor.shape[dim]))]
            start += tensor.shape[dim]
        parts.append(part if part.dtype is tensor.dtype else to_copy(part, tensor.dtype))
    return parts


def stack_backward(self: Array, tensors: Sequence[Array], dim: int) -> list[Array]:
    """Views of the slices that were stacked, each in the dtype of its origin."""
    slices = np.moveaxis(self, dim, 0)
    parts = (slices[position, ...] for position in range(len(tensors)))
    return [
        part if part.dtype is tensor.dtype else to_copy(part, tensor.dtype)
        for part, tensor in zip(parts, tensors, strict=True)
    ]


def stack(tensors: Sequence[Array], dim: int) -> Array:
    """Join arrays of one shape along a new dimension."""
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    for position, tensor in enumerate(tensors):
        if tensor.shape != tensors[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} "
                f"at entry 0 and {list(tensor.shape)} at entry {position}"
            )
    axis = normalize_dim(dim, tensors[0].ndim + 1)
    shape = (*tensors[0].shape[:axis], 1, *tensors[0].shape[axis:])
    return in_order(np.concatenate([array.reshape(shape) for array in promote(*tensors)], axis))


def unbind(self: Array, dim: int) -> list[Array]:
    """Views of all the slices of a dimension."""
    if not self.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    before: tuple[Any, ...] = (slice(None),) * normalize_dim(dim, self.ndim)
    return [self[(*before, index, ...)] for index in range(self.shape[dim])]


def cloned(self: Array, memory_format: MemoryFormat | None = None) -> Array:
    """A copy that lies in memory as the array does, or in the given order.

    RuntimeError for an order that does not fit the dimensions, TypeError for what is none.
    """
    if memory_format is None or memory_format == preserve_format:
        return self.copy() if self.flags.c_contiguous else in_order_of(self, self.copy())
    order = outermost_first(memory_format, self.ndim)
    if order is None:
        raise wrong_rank(memory_format)
    turned = self.transpose(order).copy()
    return turned if memory_format == contiguous_format else turned.transpose(np.argsort(order))


def to_copy(self: Array, dtype: Any, memory_format: str | None = None) -> Array:
    """A copy, in another dtype and order in memory if they are given; symbols keep their dtype."""
    if self.dtype.kind == "c" and dtype is not None and np.dtype(dtype).kind != "c":
        self = self.real
    if memory_format in ("channels_last", "channels_last_3d"):
        return np.moveaxis(_copied(np.moveaxis(self, 1, -1), dtype, "C"), -1, 1)
    return _copied(self, dtype, "C" if dtype is None or memory_format else "K")


def _copied(self: Array, dtype: Any, order: Literal["C", "K"]) -> Array:
    if dtype is not None and self.dtype.num <= LAST_INTEGER and is_symbolic(np.dtype(dtype)):
        dtype = np.float64  # symbols stand for floats, and objects would have no methods of arrays
    return self.copy(order) if dtype is None else self.astype(dtype, order)

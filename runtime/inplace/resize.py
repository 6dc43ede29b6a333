"""Other shapes, and other memory, for a tensor: `resize_`, `resize_as_`, `set_`."""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

import numpy as np

from ..core.accumulate_grad import AccumulateGrad
from ..core.hooks import rest_hooks, wake_hooks
from ..core.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    outermost_first,
    preserve_format,
    wanted_order,
    wrong_rank,
)
from ..core.memory_format import memory_format as MemoryFormat
from ..core.modes import is_grad_enabled, is_inference_mode_enabled
from ..core.numel import check_bytes
from ..core.storage import INFERENCE_ALIAS, own_alias, share_memory
from ..core.tensor import Tensor
from .in_transforms import refuse_captured
from .ops import mark_written, refuse_inference_write

Array: TypeAlias = np.ndarray[Any, Any]


def owner_of(array: Array) -> Array:
    """Return the array that owns the memory of another one."""
    base: Any = array
    while base is not None:
        if type(base) is np.ndarray:
            array = base
        elif type(base) is not _STRIDED:
            break
        base = base.base
    return array


_STRIDED: Final = type(np.lib.stride_tricks.as_strided(np.empty(1)).base)
"""Type of the object between an array that `as_strided` made and the array it was made of."""


def resize_array(array: Array, shape: tuple[int, ...]) -> Array:
    """Return an array of a shape, row-major, on the same memory if that is large enough.

    The elements are those in memory from the first one on, in their order there; further ones are
    zeros.
    """
    count = math.prod(shape)
    memory = _from_first(array)
    if memory.size >= count:
        return memory[:count].reshape(shape)
    grown = np.zeros(shape, array.dtype)
    grown.flat[: memory.size] = memory
    return grown


def _from_first(array: Array) -> Array:
    """Return the elements in memory from an array's first one on, in one dimension."""
    owner = owner_of(array)
    if not (owner.flags.c_contiguous or owner.flags.f_contiguous):
        return array.reshape(-1)
    flat = owner.reshape(-1, order="A")
    offset = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    count = (owner.nbytes - offset) // array.itemsize
    return np.ndarray((count,), array.dtype, flat, offset)


def resize_(self: Tensor, *sizes: Any, memory_format: MemoryFormat | None = None) -> Tensor:
    """Change the shape; elements stay in memory where they are, and new ones are not set.

    RuntimeError for a tensor that requires grad, for lengths below zero, and where memory that is
    shared with other tensors would have to grow.
    """
    shape = _lengths(sizes)
    refuse_captured(self, "resize_")
    if self.grad_node is not None and not is_inference_mode_enabled():
        raise RuntimeError("cannot resize variables that require grad")
    refuse_inference_write(self)
    order = _order(memory_format, len(shape))
    if shape == self.array.shape and order is None:
        return self
    check_bytes(shape, self.array.itemsize)
    if order is None:
        resized = resize_array(self.array, shape)
    else:
        lying = resize_array(self.array, tuple(shape[dim] for dim in order))
        resized = lying.transpose(np.argsort(order))
    is_new = owner_of(resized) is not owner_of(self.array)
    if is_new and self.array.size and _is_shared(self):
        raise RuntimeError(
            "resize_(): the memory, which other tensors share, is too small: use a clone() of the "
            "tensor, or make it large enough first"
        )
    self.array = resized
    if isinstance(self.grad_node, AccumulateGrad):
        self.grad_node.array = resized
    mark_written(self)
    return self


def _order(memory_format: MemoryFormat | None, ndim: int) -> tuple[int, ...] | None:
    """Return the dimensions as they are to follow in memory; None for row-major."""
    if memory_format in (None, contiguous_format):
        return None
    if memory_format == preserve_format:
        raise RuntimeError("resize_(): unsupported memory format: preserve_format")
    order = outermost_first(memory_format, ndim)
    if order is None:
        raise wrong_rank(memory_format)
    return order


def _lengths(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    given = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], list | tuple) else sizes
    shape = tuple(int(length) for length in given)
    if any(length < 0 for length in shape):
        raise RuntimeError(f"requested resize to {list(shape)}, which has a negative length")
    return shape


def _is_shared(tensor: Tensor) -> bool:
    """Return whether a live tensor is known to lie on the memory of this one."""
    alias = tensor.alias
    if alias is None:
        return False
    return getattr(tensor, "_view_base", None) is not None or not alias.forget_dead_views()


def resize_as_(
    self: Tensor, the_template: Tensor, *, memory_format: MemoryFormat | None = None
) -> Tensor:
    """Change the shape to that of another tensor, as `resize_` does.

    With `preserve_format` the elements take the order of the other tensor's, too.
    """
    if memory_format == preserve_format:
        shape = the_template.array.shape
        formats = (channels_last, channels_last_3d)
        fitting = [f for f in formats if outermost_first(f, len(shape)) is not None]
        is_last = [f for f in fitting if wanted_order(f, the_template.array) is None]
        memory_format = is_last[0] if is_last else None
    return resize_(self, the_template.array.shape, memory_format=memory_format)


def set_(
    self: Tensor,
    source: Any = None,
    storage_offset: int = 0,
    size: Any = None,
    stride: Any = None,
) -> Tensor:
    """Make this tensor lie on the memory of another one, or on none; no history is taken over.

    Of a storage, or with a `size`, it is what begins at an offset with these steps, by default
    row-major. RuntimeError for another dtype, for what the memory does not hold and, outside of
    `no_grad`, for a leaf that requires grad.
    """
    refuse_captured(self, "set_")
    array, owner = _source(source, storage_offset, size, stride, self.array.dtype)
    if not self.is_leaf:
        raise RuntimeError("set_(): this tensor has a history: detach() it first")
    if self.grad_node is not None and is_grad_enabled():
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
        )
    if owner is None:
        self.array, self.alias = array, None
        return self
    self.array = array
    if isinstance(self.grad_node, AccumulateGrad):  # gradients of what it was are not its own
        rest_hooks(self)
        self.grad_node = AccumulateGrad(self)
        wake_hooks(self)
    share_memory(owner, self)
    if self.alias is not INFERENCE_ALIAS:
        own_alias(self).version += 1
    return self


def _source(
    source: Any, offset: int, size: Any, stride: Any, dtype: np.dtype[Any]
) -> tuple[Array, Tensor | None]:
    """Return the array that `set_` is asked for, and the tensor whose memory it is."""
    if source is None:
        return np.empty(0, dtype), None
    if not isinstance(source, Tensor) and not hasattr(source, "data_ptr"):
        raise TypeError(f"set_() takes a tensor or a storage, not {type(source).__name__}")
    found = source.array.dtype if isinstance(source, Tensor) else getattr(source, "dtype", dtype)
    if found != dtype:
        raise RuntimeError(f"Could not set tensor of type {found} to a tensor of type {dtype}")
    if isinstance(source, Tensor):
        if size is None:
            return source.array, source
        source = source.untyped_storage()
    memory = getattr(source, "untyped", lambda: source)()
    elements = memory.elements(dtype)
    shape = (elements.size - offset,) if size is None else tuple(size)
    steps = row_major(shape) if stride is None else tuple(stride)
    last = sum((length - 1) * step for length, step in zip(shape, steps, strict=True))
    if offset < 0 or (math.prod(shape) and offset + last >= elements.size):
        raise RuntimeError(
            f"setStorage: sizes {list(shape)}, strides {list(steps)}, storage offset {offset} "
            f"are out of bounds for storage of size {memory.nbytes()}"
        )
    strides = tuple(step * dtype.itemsize for step in steps)
    return np.lib.stride_tricks.as_strided(elements[offset:], shape, strides), memory.tensor


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the steps, in elements, of an array whose last dimension is contiguous."""
    return tuple(math.prod(max(length, 1) for length in shape[i + 1 :]) for i in range(len(shape)))


class ResizeMethods:
    """Methods of `Tensor` that give it another shape or other memory."""

    __slots__ = ()

    resize_ = resize_
    resize_as_ = resize_as_
    set_ = set_

"""Other shapes, and other memory, for a tensor: `resize_`, `resize_as_`, `set_`."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from ..core.accumulate_grad import AccumulateGrad
from ..core.hooks import rest_hooks, wake_hooks
from ..core.memory_format import memory_format as MemoryFormat
from ..core.modes import is_grad_enabled, is_inference_mode_enabled
from ..core.storage import INFERENCE_ALIAS, own_alias, share_memory
from ..core.tensor import Tensor
from .ops import mark_written, refuse_inference_write

Array: TypeAlias = np.ndarray[Any, Any]


def owner_of(array: Array) -> Array:
    """Return the array that owns the memory of another one."""
    while type(array.base) is np.ndarray:
        array = array.base
    return array


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
    if self.grad_node is not None and not is_inference_mode_enabled():
        raise RuntimeError("cannot resize variables that require grad")
    refuse_inference_write(self)
    if shape == self.array.shape:
        return self
    resized = resize_array(self.array, shape)
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
    """Change the shape to that of another tensor, as `resize_` does."""
    return resize_(self, the_template.array.shape)


def set_(self: Tensor, source: Any = None, *geometry: Any, **named: Any) -> Tensor:
    """Make this tensor lie on the memory of another one, or on none; no history is taken over.

    RuntimeError for another dtype and, outside of `no_grad`, for a leaf that requires grad.
    Storages cannot be given: a tensor's memory is that of a NumPy array.
    """
    if geometry or named or not (source is None or isinstance(source, Tensor)):
        raise TypeError(
            "set_() takes a tensor; of its memory in another shape take a view, or "
            "from_numpy() of a NumPy array with these strides"
        )
    if not self.is_leaf:
        raise RuntimeError("set_(): this tensor has a history: detach() it first")
    if self.grad_node is not None and is_grad_enabled():
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
        )
    if source is None:
        self.array, self.alias = np.empty(0, self.array.dtype), None
        return self
    if source.array.dtype != self.array.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {source.array.dtype} to a tensor of type "
            f"{self.array.dtype}"
        )
    self.array = source.array
    if isinstance(self.grad_node, AccumulateGrad):  # gradients of what it was are not its own
        rest_hooks(self)
        self.grad_node = AccumulateGrad(self)
        wake_hooks(self)
    share_memory(source, self)
    if self.alias is not INFERENCE_ALIAS:
        own_alias(self).version += 1
    return self


class ResizeMethods:
    """Methods of `Tensor` that give it another shape or other memory."""

    __slots__ = ()

    resize_ = resize_
    resize_as_ = resize_as_
    set_ = set_

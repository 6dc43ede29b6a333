"""In-place ops: the out-of-place op, written back into the tensor's own memory.

The node of the op saves a copy of what the tensor held before, and the tensor takes over its
history; everyone else who had saved the tensor finds its version changed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .modes import is_grad_enabled
from .promotion import check_inplace_dtype
from .tensor import Alias, Tensor, wrap


def in_place(function: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """The in-place method of an op: `x.add_(y)` for `add(x, y)`.

    Raises RuntimeError for a leaf that requires grad, for a view whose gradient is recorded, and
    where the result has another shape or a dtype that the tensor cannot hold.
    """

    @functools.wraps(function)
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        recording = is_grad_enabled()
        if recording and self.edge is not None and self.is_leaf:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation: "
                f"call {name}() under no_grad(), or on a clone()."
            )
        before = self
        if recording:
            before = wrap(self.array.copy())
            before.edge = self.edge
        result = function(before, *args, **kwargs)
        _check(self, result, name)
        if result.edge is not None and self.alias is not None and self.alias.is_shared:
            raise RuntimeError(
                f"{name}() on a tensor that shares its memory with a view cannot be recorded yet: "
                "use the out-of-place op, or clone() the tensor first."
            )
        write(self, result.array)
        if recording:
            self.edge = result.edge
        return self

    method.__name__ = method.__qualname__ = name
    return method


def write(tensor: Tensor, values: Any) -> None:
    """Overwrite the elements of `tensor`; whoever saved it can tell by the version."""
    tensor.array[...] = values
    mark_written(tensor)


def mark_written(tensor: Tensor) -> None:
    """Count a write to the memory of `tensor`."""
    if tensor.alias is None:
        tensor.alias = Alias()
    tensor.alias.version += 1


def _check(tensor: Tensor, result: Tensor, name: str) -> None:
    if result.array.shape != tensor.array.shape:
        raise RuntimeError(
            f"{name}(): output with shape {list(tensor.shape)} doesn't match the broadcast shape "
            f"{list(result.shape)}"
        )
    check_inplace_dtype(result.array.dtype, tensor.array.dtype)

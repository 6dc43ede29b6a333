"""The values of a tensor as NumPy and Python see them: arrays, numbers, lists, text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..batching.batched import Batched, first
from ..core.captured import has_values
from ..core.memory_format import contiguous_format, outermost_first
from ..core.memory_format import memory_format as MemoryFormat
from ..core.modes import is_grad_enabled
from ..core.user_warnings import warn_of_lost_gradient

if TYPE_CHECKING:
    from ..core.node import Node
    from ..core.tensor import Tensor


class ValueMethods:
    """Methods of `Tensor` by which NumPy and Python read its values."""

    __slots__ = ()

    if TYPE_CHECKING:
        array: np.ndarray[Any, Any]
        grad_node: Node | None

    def numpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """The values as a NumPy array on the same memory.

        Raises RuntimeError if gradients flow to this tensor, unless `force` says not to care, or
        gradients are disabled.
        """
        if self.grad_node is not None and not force and is_grad_enabled():
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. "
                "Use tensor.detach().numpy() instead."
            )
        return self.array

    def item(self) -> int | float | bool | complex:
        """The value of a one-element tensor as a Python number."""
        if self.array.size != 1:
            raise RuntimeError(
                f"a Tensor with {self.array.size} elements cannot be converted to Scalar"
            )
        return cast("int | float | bool | complex", self.array.item())

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers."""
        return self.array.tolist()

    def is_contiguous(self, memory_format: MemoryFormat = contiguous_format) -> bool:
        """Return whether the elements lie in row-major order, or another format, without gaps."""
        if isinstance(self, Batched):
            level = self.level
            return not level.size or first(self, level).is_contiguous(memory_format)
        order = outermost_first(memory_format, self.array.ndim)
        return order is not None and self.array.transpose(order).flags.c_contiguous

    def stride(self, dim: int | None = None) -> tuple[int, ...] | int:
        """Return the stride, in elements, of each dimension, or of one; IndexError."""
        if isinstance(self, Batched):
            strides = cast("tuple[int, ...]", self.physical.stride())[1:]
        else:
            strides = _strides(self.array)
        if dim is None:
            return strides
        array = self.array
        if not -array.ndim <= dim < array.ndim:
            rank = max(array.ndim, 1)
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but "
                f"got {dim})"
            )
        return strides[dim]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __bool__(self) -> bool:
        if self.array.size != 1:
            raise RuntimeError(
                "Boolean value of Tensor with "
                + ("no values" if self.array.size == 0 else "more than one value")
                + " is ambiguous"
            )
        return bool(self.item())

    def __float__(self) -> float:
        self._warn_of_grad()
        return float(self._real_number("double"))

    def __int__(self) -> int:
        return int(self._real_number("int64_t"))

    def __complex__(self) -> complex:
        self._warn_of_grad()
        return complex(self._number())

    def _number(self) -> int | float | bool | complex:
        """The value, for Python's own conversions, which raise ValueError where `item` does not."""
        if self.array.size != 1:
            raise ValueError(
                "only one element tensors can be converted to Python scalars, not one of "
                f"{self.array.size} elements"
            )
        return self.item()

    def _warn_of_grad(self) -> None:
        if self.grad_node is not None:
            warn_of_lost_gradient()

    def _real_number(self, kind: str) -> int | float | bool:
        value = self._number()
        if isinstance(value, complex):
            if value.imag:
                raise RuntimeError(
                    f"value cannot be converted to type {kind} without overflow: {value} is "
                    "complex; take its real, imag or abs()"
                )
            return value.real
        return value

    def __index__(self) -> int:
        if self.array.dtype.kind not in "iub" or self.array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.array.item())

    def __len__(self) -> int:
        if self.array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self.array)

    def __iter__(self: Any) -> Iterator[Tensor]:
        if self.array.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self: Any) -> Tensor:
        if self.array.ndim == 0:
            return cast("Tensor", self)
        return cast("Tensor", self.flip(0))

    def __contains__(self, element: Any) -> bool:
        if not (
            hasattr(element, "array") or isinstance(element, int | float | complex | np.number)
        ):
            raise RuntimeError(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                f"{type(element)}."
            )
        return bool(cast("Any", self == element).any())

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        from .printing import tensor_repr  # few programs print tensors

        return tensor_repr(cast("Tensor", self))

    def __format__(self, spec: str) -> str:
        # As in PyTorch: a 0-dim tensor is formatted as its number, others as any object is.
        if self.array.ndim == 0 and (spec or has_values(self.array)):
            return format(self.item(), spec)
        return object.__format__(self, spec)


def _strides(array: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """The strides of an array in elements.

    Of a dimension of length one NumPy has 0 where it was added, PyTorch the length of what is
    inside of it.
    """
    strides = [stride // array.itemsize for stride in array.strides]
    if not array.size and not any(strides):
        return _row_major(array.shape)
    if 0 in strides:
        shape = array.shape
        for dim in range(array.ndim - 1, -1, -1):
            if shape[dim] == 1 and not strides[dim]:
                is_last = dim == array.ndim - 1
                strides[dim] = 1 if is_last else shape[dim + 1] * strides[dim + 1]
    return tuple(strides)


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array without elements, of which NumPy has zeros only."""
    strides = [1]
    for length in shape[:0:-1]:
        strides.append(strides[-1] * max(length, 1))
    return tuple(strides[::-1])

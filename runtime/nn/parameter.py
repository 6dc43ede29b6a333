"""`Parameter`: a tensor that modules register when it is set as an attribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.accumulate_grad import AccumulateGrad
from ..core.devices import check_device
from ..core.tensor import Tensor, wrap
from ..dtypes.promotion import get_default_dtype
from ..functions.creation import float_dtype


class _ParameterType(type):
    """Metaclass of `Parameter`, whose instances are marked `Tensor`s: a subclass would be slow.

    Those of subclasses have the subclass as their mark.
    """

    def __instancecheck__(cls, instance: object) -> bool:
        mark: Any = getattr(instance, "_is_parameter", False)
        if cls is Parameter or not mark:
            return bool(mark)
        return isinstance(mark, type) and issubclass(mark, cls)


class Parameter(Tensor, metaclass=_ParameterType):
    """Leaf that requires grad, on the memory of the tensor it is made of: `Parameter(data)`."""

    __slots__ = ()

    def __new__(  # type: ignore[misc]
        cls, data: Tensor | None = None, requires_grad: bool = True
    ) -> Tensor:
        if data is None:
            data = wrap(np.empty(0, get_default_dtype()))
        if not isinstance(data, Tensor):
            raise TypeError(f"a Parameter is made from a Tensor, not {type(data).__name__}")
        parameter = data.detach()
        mark: Any = True if cls is Parameter else cls
        parameter._is_parameter = mark
        parameter.requires_grad = requires_grad  # also inside of transforms
        return parameter

    _make_marked = staticmethod(__new__)
    """For `Tensor._make_subclass`, which cannot know parameters."""


class _BufferMark:
    """Mark of a tensor that is to be a buffer, which stands in the place of that of a parameter."""

    __slots__ = ("persistent",)

    def __init__(self, persistent: bool) -> None:
        self.persistent = persistent

    def __bool__(self) -> bool:
        return False


class _BufferType(type):
    """Metaclass of `Buffer`, whose instances are marked `Tensor`s."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(getattr(instance, "_is_parameter", None), _BufferMark)


class Buffer(Tensor, metaclass=_BufferType):
    """Tensor that modules register as a buffer when it is set as an attribute: `Buffer(data)`."""

    __slots__ = ()

    def __new__(  # type: ignore[misc]
        cls, data: Tensor | None = None, *, persistent: bool = True
    ) -> Tensor:
        buffer = (wrap(np.empty(0, get_default_dtype())) if data is None else data).detach()
        buffer._is_parameter = _BufferMark(persistent)  # type: ignore[assignment]
        buffer.requires_grad = data is not None and data.requires_grad
        return buffer


class _Shapeless:
    """Mark of a parameter or buffer without a shape; `settled` is its mark once it has one."""

    __slots__ = ("settled",)

    def __init__(self, settled: bool) -> None:
        self.settled = settled

    def __bool__(self) -> bool:
        return self.settled

    def materialize(
        self, tensor: Tensor, shape: int | Sequence[int], device: Any = None, dtype: Any = None
    ) -> None:
        """Give the tensor a shape, and a dtype if it is not to keep its own; its values are any.

        RuntimeError for a device other than the CPU.
        """
        check_device("materialize", device)
        dtype = tensor.array.dtype if dtype is None else dtype
        self.settle(tensor, np.empty(shape, dtype))

    def settle(self, tensor: Tensor, array: np.ndarray[Any, Any]) -> None:
        """Make the tensor, whose mark this is, an ordinary parameter or buffer of an array."""
        set_array(tensor, array)
        tensor._is_parameter = self.settled


class _ShapelessType(type):
    """Metaclass of what has no shape yet: marked `Tensor`s."""

    settled: bool

    def __instancecheck__(cls, instance: object) -> bool:
        mark = getattr(instance, "_is_parameter", None)
        return isinstance(mark, _Shapeless) and mark.settled is cls.settled

    def make(cls, requires_grad: bool, dtype: Any) -> Tensor:
        """Make a tensor of no elements, with the mark."""
        tensor = wrap(np.empty(0, get_default_dtype() if dtype is None else dtype))
        tensor._is_parameter = _Shapeless(cls.settled)  # type: ignore[assignment]
        tensor.requires_grad = requires_grad
        return tensor


class UninitializedParameter(Tensor, metaclass=_ShapelessType):
    """Parameter of a lazy module before it has a shape: `materialize(shape)` gives it one."""

    __slots__ = ()
    settled = True

    def __new__(cls, requires_grad: bool = True, dtype: Any = None) -> Tensor:  # type: ignore[misc]
        return cls.make(requires_grad, dtype)


class UninitializedBuffer(Tensor, metaclass=_ShapelessType):
    """Buffer of a lazy module before it has a shape: `materialize(shape)` gives it one."""

    __slots__ = ()
    settled = False

    def __new__(cls, requires_grad: bool = False, dtype: Any = None) -> Tensor:  # type: ignore[misc]
        return cls.make(requires_grad, dtype)


def is_lazy(param: object) -> bool:
    """Return whether something is a parameter or buffer that has no shape yet."""
    return isinstance(param, UninitializedParameter | UninitializedBuffer)


def settle(tensor: Tensor, array: np.ndarray[Any, Any]) -> None:
    """Give a parameter or buffer that has no shape an array."""
    mark: Any = tensor._is_parameter
    mark.settle(tensor, array)


def check_shape_known(tensor: Tensor, what: str) -> None:
    """Raise ValueError for a parameter or buffer of a lazy module that has no shape yet."""
    if is_lazy(tensor):
        raise ValueError(
            f"the module of {what} must not have uninitialized parameters. A lazy module gets its "
            "shapes at its first call: call it with an example before."
        )


def is_persistent(buffer: Tensor) -> bool:
    """Return whether a `Buffer` is part of the state."""
    mark: Any = buffer._is_parameter
    return bool(mark.persistent)


def empty_parameter(shape: Sequence[int], dtype: Any, device: Any = None) -> Tensor:
    """Make an uninitialised parameter; the default dtype if `dtype` is None.

    RuntimeError for a negative length, and for a device other than the CPU.
    """
    check_device("Parameter", device)
    for length in shape:
        if length < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {length}: {list(shape)}"
            )
    return Parameter(wrap(np.empty(tuple(shape), float_dtype(dtype))))


def table(
    shape: Sequence[int], weight: Tensor | None, freeze: bool, dtype: Any, device: Any
) -> Tensor:
    """Make the parameter of an embedding: `weight`, or an uninitialised one of the shape."""
    if weight is None:
        made = empty_parameter(shape, dtype, device)
        made.requires_grad = not freeze
        return made
    if tuple(weight.shape) != tuple(shape):
        raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
    return Parameter(weight, requires_grad=not freeze)


def check_table(embeddings: Tensor) -> None:
    """Raise AssertionError unless vectors are given as a matrix."""
    if embeddings.ndim != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")


def set_array(tensor: Tensor, array: np.ndarray[Any, Any]) -> None:
    """Give a leaf another array, for instance of another dtype, and cast its gradient with it."""
    tensor.array = array
    if isinstance(tensor.grad_node, AccumulateGrad):
        tensor.grad_node.array = array
    if tensor.grad is not None:
        tensor.grad = wrap(tensor.grad.array.astype(array.dtype))

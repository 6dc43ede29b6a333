"""PyTorch's first ways to make tensors: `gs.Tensor(...)`, `gs.FloatTensor(...)`, `x.new(...)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ..core.devices import check_device
from ..core.tensor import Tensor, wrap
from ..core.torch_function import DisableTorchFunctionSubclass
from ..dispatch.registry import ops
from ..dtypes.promotion import get_default_dtype, set_default_dtype, type_name
from ..forward_ad.dual import Dual
from ..inplace.resize import set_
from .creation import tensor as tensor_of
from .storages import TypedStorage, UntypedStorage

Array: TypeAlias = np.ndarray[Any, Any]


def _array_of(data: tuple[Any, ...], dtype: np.dtype[Any]) -> Array:
    """Return an array of the given elements, or of the given shape with any elements."""
    if all(isinstance(length, int) and not isinstance(length, bool) for length in data):
        if any(length < 0 for length in data):
            raise RuntimeError(f"Trying to create tensor with negative dimension: {list(data)}")
        return np.empty(data or (0,), dtype)
    if len(data) == 1 and type(data[0]).__name__ == "Size":
        return np.empty(data[0], dtype)
    if len(data) == 1 and isinstance(data[0], Sequence | np.ndarray):
        return tensor_of(data[0], dtype=dtype).array
    kinds = ", ".join(type(value).__name__ for value in data)
    raise TypeError(f"new(): data must be a sequence (got {kinds})")


def new(self: Tensor, *data: Any, size: Any = None, device: Any = None) -> Tensor:
    """A tensor in the dtype of this one: of the given elements, or of the given shape."""
    check_device("new", device)
    if size is not None and not data:
        return wrap(np.empty(tuple(size), self.array.dtype))
    if len(data) == 1 and isinstance(data[0], Tensor):
        return _same_memory("new", data[0], self.array.dtype)
    return wrap(_array_of(data, self.array.dtype))


def _same_memory(name: str, source: Tensor, dtype: np.dtype[Any]) -> Tensor:
    if source.array.dtype != dtype:
        raise TypeError(f"{name}(): expected a tensor of {dtype}, not one of {source.array.dtype}")
    with DisableTorchFunctionSubclass():
        shared: Tensor = ops.alias(source)
    return shared


def _become(made: Tensor, view: Tensor) -> None:
    """Give a tensor that has nothing yet the memory, the history and the tangents of a view."""
    if isinstance(view, Dual):
        if type(made) is not Tensor:
            raise RuntimeError(f"{type(made).__name__}(): a tensor with a tangent cannot be of it")
        made.__class__ = Dual
        made._dual_parts = view._dual_parts
        return
    for name in ("array", "alias", "grad_node", "_view_base", "_view_kind"):
        if hasattr(view, name):
            setattr(made, name, getattr(view, name))
    if made.alias is not None and hasattr(made, "_view_base"):
        made.alias.add_view(made)


class LegacyMethods:
    """The `__init__` of `Tensor`, and `new`."""

    __slots__ = ()

    new = new

    def type(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Return PyTorch's name of the type, or the tensor in another dtype.

        `dtype` is a dtype, a name such as "torch.DoubleTensor", or a class such as
        `gs.DoubleTensor`; `gs.Tensor` stands for the default dtype.
        """
        if dtype is None:
            return f"torch.{type_name(self.array.dtype)}Tensor"
        wanted = tensor_type(dtype) if isinstance(dtype, str) else dtype
        if wanted is Tensor:
            wanted = get_default_dtype()
        return self.to(wanted.dtype if isinstance(wanted, TensorType) else np.dtype(wanted))

    def __init__(self: Any, *data: Any, device: Any = None) -> None:
        """Make a tensor of the given elements, or of the given shape with any elements.

        `Tensor([1, 2])` has these elements, `Tensor(2, 3)` this shape, `Tensor()` no element. Ops
        make their results without coming here.
        """
        check_device("Tensor", device)
        made: Tensor = self
        made.grad_node = made.alias = None
        if len(data) == 1 and isinstance(data[0], Tensor):
            _become(made, _same_memory("Tensor", data[0], data[0].array.dtype))
        else:
            made.array = _array_of(data, get_default_dtype())


class TensorType(type):
    """The class of `FloatTensor` and its kin, which has tensors of one dtype for instances."""

    dtype: np.dtype[Any]

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.array.dtype == cls.dtype

    def __call__(cls, *data: Any, device: Any = None) -> Tensor:
        """Make a tensor of the dtype: of the given elements, or of the given shape."""
        check_device(cls.__name__, device)
        if len(data) == 1 and isinstance(data[0], Tensor):
            return _same_memory(cls.__name__, data[0], cls.dtype)
        if len(data) == 1 and isinstance(data[0], TypedStorage | UntypedStorage):
            return set_(wrap(np.empty(0, cls.dtype)), data[0])
        return wrap(_array_of(data, cls.dtype))


def _type_of(name: str, dtype: str) -> TensorType:
    doc = f"Tensors of {dtype}, as PyTorch made them first; `gs.tensor` is the way now."
    return TensorType(name, (), {"__doc__": doc, "dtype": np.dtype(dtype)})


BoolTensor: Final = _type_of("BoolTensor", "bool")
ByteTensor: Final = _type_of("ByteTensor", "uint8")
CharTensor: Final = _type_of("CharTensor", "int8")
ShortTensor: Final = _type_of("ShortTensor", "int16")
IntTensor: Final = _type_of("IntTensor", "int32")
LongTensor: Final = _type_of("LongTensor", "int64")
HalfTensor: Final = _type_of("HalfTensor", "float16")
FloatTensor: Final = _type_of("FloatTensor", "float32")
DoubleTensor: Final = _type_of("DoubleTensor", "float64")

_BY_NAME: Final = {
    kind.__name__: kind
    for kind in (
        *(BoolTensor, ByteTensor, CharTensor, ShortTensor, IntTensor, LongTensor),
        *(HalfTensor, FloatTensor, DoubleTensor),
    )
}


def tensor_type(name: str) -> TensorType:
    """Return the class that "torch.FloatTensor" names; ValueError if there is none."""
    found = _BY_NAME.get(name.removeprefix("torch.").removeprefix("gradspec."))
    if found is None:
        raise ValueError(f"invalid type: '{name}'")
    return found


def set_default_tensor_type(t: TensorType | str) -> None:
    """Change the dtype that Python floats become, by the name of a class of tensors."""
    set_default_dtype((tensor_type(t) if isinstance(t, str) else t).dtype)

"""Overriding ops by `__torch_function__`: PyTorch's public names, and what subclasses inherit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .core.accumulate_grad import AccumulateGrad
from .core.tensor import Tensor
from .core.torch_function import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from .core.torch_function import handle_torch_function as handle_torch_function
from .core.torch_function import has_torch_function as has_torch_function
from .core.torch_function import has_torch_function_unary as has_torch_function_unary
from .core.torch_function import has_torch_function_variadic as has_torch_function_variadic


def default_torch_function(
    cls: type[Tensor],
    func: Callable[..., Any],
    types: Iterable[type],
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
) -> Any:
    """Run an op on plain tensors, and give its results the class: subclasses inherit this."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        return _converted(func(*args, **(kwargs or {})), cls)


def _converted(result: Any, cls: type[Tensor]) -> Any:
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else with_class(result, cls)
    if isinstance(result, list | tuple):
        items = [_converted(item, cls) for item in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    return result


def with_class(tensor: Tensor, cls: type[Tensor]) -> Tensor:
    """Return the same tensor, of another class."""
    made = Tensor.__new__(cls)
    made.array, made.alias = tensor.array, tensor.alias
    is_leaf = isinstance(tensor.grad_node, AccumulateGrad)
    made.grad_node = AccumulateGrad(made) if is_leaf else tensor.grad_node
    for name in ("_view_base", "_view_kind"):
        if hasattr(tensor, name):
            setattr(made, name, getattr(tensor, name))
    if made.alias is not None and hasattr(made, "_view_base"):
        made.alias.add_view(made)
    return made


def as_subclass(self: Tensor, cls: type[Tensor]) -> Tensor:
    """A view of this tensor that is of a subclass of `Tensor`."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError("as_subclass(): cls must be a subclass of Tensor")
    with DisableTorchFunctionSubclass():
        return with_class(self.view_as(self), cls)


class OverrideMethods:
    """Methods of `Tensor` that its subclasses inherit or are made by."""

    __slots__ = ()

    __torch_function__: Any = classmethod(default_torch_function)
    as_subclass = as_subclass


__all__ = [
    "DisableTorchFunctionSubclass",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
]

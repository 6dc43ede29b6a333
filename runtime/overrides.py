"""Overriding ops by `__torch_function__`: PyTorch's public names, and what subclasses inherit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

from .core import torch_function as _classes
from .core.accumulate_grad import AccumulateGrad
from .core.lazy import lazy_attributes as _lazy_attributes
from .core.tensor import Tensor
from .core.torch_function import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from .core.torch_function import are_subclasses_plain
from .dispatch.entered_modes import handle_torch_function as handle_torch_function
from .dispatch.entered_modes import has_torch_function as has_torch_function
from .dispatch.entered_modes import has_torch_function_unary as has_torch_function_unary
from .dispatch.entered_modes import has_torch_function_variadic as has_torch_function_variadic

if TYPE_CHECKING:
    from .function_modes import BaseTorchFunctionMode as BaseTorchFunctionMode
    from .function_modes import TorchFunctionMode as TorchFunctionMode

_MODES: Final = ("BaseTorchFunctionMode", "TorchFunctionMode")


def default_torch_function(
    cls: type[Tensor],
    func: Callable[..., Any],
    types: Iterable[type],
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
) -> Any:
    """Run an op on plain tensors, and give its results the class: subclasses inherit this.

    Functions of PyTorch's ask, too, and would ask again: they get NotImplemented.
    """
    is_asked_again = cls is Tensor or are_subclasses_plain()
    if is_asked_again or not all(issubclass(cls, kind) for kind in types):
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


def make_subclass(cls: type[Tensor], data: Tensor, require_grad: bool = False) -> Tensor:
    """A leaf of a subclass of `Tensor`, or of `Parameter`, on the memory of a tensor."""
    make_marked: Any = getattr(cls, "_make_marked", None)
    if make_marked is not None:
        marked: Tensor = make_marked(cls, data, require_grad)
        return marked
    with DisableTorchFunctionSubclass():
        return with_class(data.detach(), cls).requires_grad_(require_grad)


_NO_OPS: Final = (
    *("bernoulli", "detach", "geqrf", "histogram", "isreal", "multinomial", "new", "new_empty"),
    *("new_full", "new_ones", "new_tensor", "new_zeros", "view"),
)
"""Methods that are no ops of the table, and so know nothing of overrides."""


def _handing_over(name: str) -> Callable[..., Any]:
    """The method of `Tensor` for its subclasses, whose `__torch_function__` comes first."""

    @wraps(getattr(Tensor, name))
    def call(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        plain = getattr(Tensor, name)
        if _classes.has_torch_function_unary(self):
            return _classes.handle_torch_function(plain, (self,), self, *args, **kwargs)
        return plain(self, *args, **kwargs)

    return call


def _data(self: Tensor) -> Any:
    descriptor: Any = Tensor.data
    if _classes.has_torch_function_unary(self):
        return _classes.handle_torch_function(descriptor.__get__, (self,), self)
    return descriptor.__get__(self)


class OverrideMethods:
    """Methods of `Tensor` that its subclasses inherit or are made by."""

    __slots__ = ()

    __torch_function__: Any = classmethod(default_torch_function)
    as_subclass = as_subclass
    _make_subclass = staticmethod(make_subclass)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let the methods that are no ops ask for overrides, too: here, so that `Tensor`'s do not.

        What a class defines itself stays.
        """
        if not issubclass(cls, Tensor):  # the table of methods, of which this class is a part
            return
        super(Tensor, cls).__init_subclass__(**kwargs)
        if getattr(cls, "_is_internal", False):
            return
        bases = cls.__mro__[: cls.__mro__.index(Tensor)]
        defined = {name for base in bases for name in vars(base)}
        for name in _NO_OPS:
            if name not in defined:
                setattr(cls, name, _handing_over(name))
        if "data" not in defined:
            cls.data = property(_data, vars(Tensor)["data"].fset)  # type: ignore[assignment]


def is_tensor_like(inp: object) -> bool:
    """Return whether ops take something for a tensor: one, or what has `__torch_function__`."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def wrap_torch_function(
    dispatcher: Callable[..., Iterable[Any]],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a function that overrides may take over.

    `dispatcher` is given the arguments, and returns those that are asked for `__torch_function__`.
    """

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorator


__getattr__, __dir__ = _lazy_attributes(
    globals(), {name: (".function_modes", name) for name in _MODES}
)

__all__ = [
    "BaseTorchFunctionMode",
    "DisableTorchFunctionSubclass",
    "TorchFunctionMode",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "wrap_torch_function",
]

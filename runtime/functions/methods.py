"""Methods of `Tensor` and `Node` that layers above `core` define: the one installer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from operator import attrgetter
from typing import Any, Final

from ..core.numpy_warnings import import_quietly
from ..core.tensor import Tensor
from ..dispatch.operators import OPERATORS, operator
from ..dispatch.overloads import spread, variadic
from ..inplace.ops import in_place

Function = Callable[..., Any]


def install(owner: type, methods: Mapping[str, Any]) -> None:
    """Make the functions and other descriptors among `methods` attributes of `owner`.

    `methods` may be the namespace of a class.
    """
    for name, method in methods.items():
        if hasattr(type(method), "__get__"):
            setattr(owner, name, method)


def lazy_methods(package: str, methods: Mapping[str, tuple[str, str, str]]) -> dict[str, Any]:
    """Return methods by name, given the module in `package`, the function there, and its form.

    A function may be that of a class: `ElementMethods.where`. The module is imported when one of
    its methods is first used.
    """
    return {
        name: _LazyMethod(name, f"{package}.{module}", function, form)
        for name, (module, function, form) in methods.items()
    }


class _LazyMethod:
    """Lazy method proxy: replaced by the method when it is first asked for."""

    __slots__ = ("_form", "_function", "_module", "_name")

    def __init__(self, name: str, module: str, function: str, form: str) -> None:
        self._name = name
        self._module = module
        self._function = function
        self._form = form

    def __get__(self, tensor: Tensor | None, owner: type[Tensor]) -> Any:
        function = attrgetter(self._function)(import_quietly(self._module))
        method: Any = _FORMS[self._form](function, self._name)
        if self._name in OPERATORS:
            method = operator(method)
        setattr(Tensor, self._name, method)
        return method.__get__(tensor, owner)


def _equality(function: Function, name: str) -> Function:
    """Return `==` or `!=`, which compare with anything, as in Python: `tensor == None` is False."""

    @wraps(function)
    def method(self: Tensor, other: Any) -> Any:
        try:
            return function(self, other)
        except TypeError:
            return NotImplemented

    method.__name__ = method.__qualname__ = name
    return method


_FORMS: Final[dict[str, Callable[[Function, str], Function]]] = {
    "": lambda function, name: function,
    "in_place": in_place,
    "equality": _equality,
    "variadic": lambda function, name: variadic(function),
    "spread": lambda function, name: spread(function),
}
"""The method that is made of the function of an op, by its form."""

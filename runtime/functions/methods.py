"""The methods and operators of `Tensor` that are ops of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final

from ..core.numpy_warnings import import_quietly
from ..core.tensor import Tensor
from ..dispatch.overloads import variadic
from ..inplace.ops import in_place

Function = Callable[..., Any]


def _equality(function: Function, name: str) -> Function:
    """`==` or `!=`, which compare with anything, as Python has it: `tensor == None` is False."""

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
}
"""What is made of the function of an op."""


def install_ops(package: str, methods: Mapping[str, tuple[str, str, str]]) -> None:
    """Give `Tensor` methods and operators: by name, the family in `package`, function and form.

    The family is imported when one of its methods is first used.
    """
    for name, (family, function, form) in methods.items():
        setattr(Tensor, name, _LazyMethod(name, f"{package}.{family}", function, form))


class _LazyMethod:
    """Stands for a method, and makes way for it when it is first asked for."""

    __slots__ = ("_form", "_function", "_module", "_name")

    def __init__(self, name: str, module: str, function: str, form: str) -> None:
        self._name = name
        self._module = module
        self._function = function
        self._form = form

    def __get__(self, tensor: Tensor | None, owner: type[Tensor]) -> Any:
        function = getattr(import_quietly(self._module), self._function)
        method: Any = _FORMS[self._form](function, self._name)
        setattr(Tensor, self._name, method)
        return method.__get__(tensor, owner)

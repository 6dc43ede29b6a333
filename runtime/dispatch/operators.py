"""Operators of `Tensor`, which leave what is no operand to the other object, and of `Size`.

`x + y` is `add(x, y)`, but where `add` refuses an object by a TypeError, the operator answers
NotImplemented: then Python asks the object for `__radd__`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from types import FunctionType
from typing import Any, Final, SupportsIndex

import numpy as np

from ..core.tensor import Size, Tensor
from ..core.torch_function import is_overridden
from . import dispatch as dispatching
from . import overloads

Function = Callable[..., Any]

_ARITHMETIC: Final = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
)

OPERATORS: Final = frozenset(
    [f"__{side}{name}__" for name in _ARITHMETIC for side in ("", "r", "i")]
    + ["__lt__", "__le__", "__gt__", "__ge__"]
)
"""The names of the methods that answer operators of two operands, but for `==` and `!=`."""


def operator(function: Function) -> Function:
    """Return the method for an operator: `function`, but NotImplemented for what is no operand.

    The function of an op has a slow path, on which all that is no tensor comes. It is copied with
    another one, so that the operator costs tensors no more than the function does.
    """
    slow_path = _SLOW_PATHS.keys() & getattr(function, "__code__", operator.__code__).co_names
    return _with_slow_path(function, *slow_path) if slow_path else _refusing(function)


def _with_slow_path(function: Any, name: str) -> Function:
    names = {**function.__globals__, name: _SLOW_PATHS[name]}
    # Code remembers where its names were found, so that the copy has code of its own.
    code, defaults = function.__code__.replace(), function.__defaults__
    copy = FunctionType(code, names, function.__name__, defaults, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return wraps(function)(copy)


def _refusing(function: Function) -> Function:
    @wraps(function)
    def method(self: Tensor, other: Any) -> Any:
        try:
            return function(self, other)
        except TypeError:
            if are_operands((self, other)):
                raise
        except AttributeError:  # of functions that are composed of ops
            if isinstance(other, Tensor | np.ndarray):
                raise
        return NotImplemented

    return method


def _dispatch(function: Function, *operands: Any, **options: Any) -> Any:
    try:
        return dispatching.dispatch(function, *operands, **options)
    except TypeError:
        if are_operands(operands):
            raise
    return NotImplemented


def _choose_and_remember(
    name: str, functions: Any, chosen: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Function | None:
    try:
        return overloads._choose_and_remember(name, functions, chosen, args, kwargs)
    except TypeError:
        if are_operands(args):
            raise
    return lambda *operands: NotImplemented


_SLOW_PATHS: Final[dict[str, Function]] = {
    "dispatch": _dispatch,
    "_choose_and_remember": _choose_and_remember,
}
"""Replacements that operators call for the functions by these names, which raise TypeError."""


def are_operands(values: Iterable[object]) -> bool:
    """Return whether an operator computes with all of these; others are asked themselves."""
    return all(isinstance(value, _OPERANDS) or is_overridden(value) for value in values)


_OPERANDS: Final = (Tensor, np.ndarray, np.generic, int, float, complex)


_item, _sum, _product = tuple.__getitem__, tuple.__add__, tuple.__mul__


class SizeMethods:
    """Slices, sums and products of shapes, which are shapes: `x.shape[1:]`, `x.shape + (2,)`."""

    __slots__ = ()

    def __getitem__(self: Any, index: Any) -> Any:
        """One length, or those of a slice."""
        found = _item(self, index)
        return Size(found) if type(index) is slice else found

    def __add__(self: Any, other: tuple[int, ...]) -> Any:
        """The lengths of both; TypeError unless `other` is a tuple."""
        return Size(_sum(self, other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self: Any, other: tuple[int, ...]) -> Any:
        """The lengths of both, those of a tuple on the left first."""
        return Size(_sum(other, self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self: Any, times: SupportsIndex) -> Any:
        """The lengths again and again."""
        return Size(_product(self, times))

    __rmul__ = __mul__

"""The modes that a thread has entered, which are asked before classes with `__torch_function__`.

What the library itself asks about is classes (`torch_function`); these functions are for users.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any, Final

from ..core import torch_function


class _Modes(threading.local):
    """The modes that one thread has entered, innermost last."""

    def __init__(self) -> None:
        self.stack: list[Any] = []


modes: Final = _Modes()


own_codes: Final[dict[CodeType, CodeType]] = {}
"""The code of functions by that which stands in its place, and asks, while there is a mode."""


def own_code(function: Any) -> CodeType:
    """Return the code that runs where a function does what it does."""
    code: CodeType = function.__code__
    return own_codes.get(code, code)


def has_torch_function(relevant_args: Iterable[object]) -> bool:
    """Return whether one of the arguments has an override, or there is a mode."""
    return bool(modes.stack) or torch_function.has_torch_function(relevant_args)


def has_torch_function_unary(tensor: object) -> bool:
    """Return whether the only argument has an override, or there is a mode."""
    return has_torch_function((tensor,))


def has_torch_function_variadic(*args: object) -> bool:
    """Return whether one of the arguments has an override, or there is a mode."""
    return has_torch_function(args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[object], *args: Any, **kwargs: Any
) -> Any:
    """Let the innermost mode, or the overrides of the arguments, do what a function would.

    The mode is left while it is asked; NotImplemented passes the call on to the overrides.
    """
    relevant_args = list(relevant_args)
    stack = modes.stack
    if stack:
        types = tuple(type(value) for value in torch_function.in_order(relevant_args))
        given = torch_function.without_defaults(public_api, kwargs)
        mode = stack.pop()
        try:
            result = mode.__torch_function__(public_api, types, args, given)
        finally:
            stack.append(mode)
        if result is not NotImplemented:
            return result
    return torch_function.handle_torch_function(public_api, relevant_args, *args, **kwargs)

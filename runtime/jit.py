"""PyTorch's TorchScript, as far as it changes nothing: functions and modules stay what they are.

A scripted function computes what it computes as Python, so that is what is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .core.missing import explaining as _explaining
from .nn.module import Module

__all__ = [
    "Final",
    "ScriptModule",
    "annotate",
    "export",
    "ignore",
    "is_scripting",
    "is_tracing",
    "script",
    "script_method",
    "trace",
    "unused",
]

__getattr__ = _explaining(__name__)

_Any = TypeVar("_Any")
Final = Any
ScriptModule = Module


def script(obj: _Any, *_: Any, **__: Any) -> _Any:
    """Return the function, class or module itself."""
    return obj


def trace(func: _Any, example_inputs: Any = None, *_: Any, **__: Any) -> _Any:
    """Return the function or module itself: it is not frozen to the path of the example."""
    return func


def script_method(function: _Any) -> _Any:
    """Return the method itself."""
    return function


def export(function: _Any) -> _Any:
    """Return the method itself."""
    return function


def unused(function: _Any) -> _Any:
    """Return the method itself."""
    return function


def ignore(drop: Any = False, **_: Any) -> Any:
    """Return the function itself; a decorator with or without parentheses."""
    if callable(drop):
        return drop
    decorate: Callable[[_Any], _Any] = script_method
    return decorate


def annotate(the_type: Any, the_value: _Any) -> _Any:
    """Return the value."""
    return the_value


def is_scripting() -> bool:
    """Return False: functions run as Python."""
    return False


def is_tracing() -> bool:
    """Return False: functions run as Python."""
    return False

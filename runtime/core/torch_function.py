"""`__torch_function__`: the protocol by which an op hands itself over to a class of its arguments.

An op meets such a class on its slow path only. The method gets the op as the public function, the
types that have overrides, and the arguments; NotImplemented leaves the op to the next type. Modes,
which come before classes, are in `function_modes`: an op never asks for them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import cache
from types import TracebackType
from typing import Any, Final

from .tensor import Tensor


class _Disabled(threading.local):
    """The depth of blocks, in one thread, in which subclasses count as plain tensors."""

    depth = 0


_disabled: Final = _Disabled()


class DisableTorchFunctionSubclass:
    """Inside the block ops treat tensor subclasses as plain tensors."""

    def __enter__(self) -> None:
        _disabled.depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _disabled.depth -= 1


def type_name(value: object) -> str:
    """Return the name of the type of a value, for errors; PyTorch's tensors are told from ours.

    Tensors of transforms are tensors, as users know them.
    """
    kind: Any = type(value)
    if getattr(kind, "_is_internal", False):
        return "Tensor"
    return f"{kind.__module__}.{kind.__name__}" if _is_pytorchs(kind) else kind.__name__


def are_subclasses_plain() -> bool:
    """Return whether ops treat tensor subclasses as plain tensors."""
    return bool(_disabled.depth)


def has_torch_function(relevant_args: Iterable[object]) -> bool:
    """Return whether one of the arguments has an override."""
    return any(map(is_overridden, relevant_args))


def has_torch_function_unary(tensor: object) -> bool:
    """Return whether the only argument has an override."""
    return is_overridden(tensor)


def has_torch_function_variadic(*args: object) -> bool:
    """Return whether one of the arguments has an override."""
    return has_torch_function(args)


def is_overridden(value: object) -> bool:
    """Return whether the class of a value has an override."""
    kind: Any = type(value)
    if kind is Tensor or not hasattr(kind, "__torch_function__"):
        return False
    if getattr(kind, "_is_internal", False) or _is_pytorchs(kind):
        return False
    return not (_disabled.depth and isinstance(value, Tensor))


@cache
def _is_pytorchs(kind: Any) -> bool:
    """Return whether a class is PyTorch's tensor, whose method calls the function of ours again."""
    return any(
        base.__name__ == "Tensor" and base.__module__.partition(".")[0] == "torch"
        for base in kind.__mro__
    )


def flattened(values: Iterable[object]) -> list[object]:
    """The arguments, and what lists among them hold."""
    found: list[object] = []
    for value in values:
        if isinstance(value, _SEVERAL):
            found.extend(value)
        else:
            found.append(value)
    return found


_SEVERAL: Final = (list, tuple)  # a union would be made anew at each call


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[object], *args: Any, **kwargs: Any
) -> Any:
    """Let the overrides of the arguments do what `public_api(*args, **kwargs)` would.

    Subclasses come before their bases, otherwise it goes from left to right. They are not given
    keyword arguments that are the default. TypeError if all of them answer NotImplemented.
    """
    overridden = in_order(relevant_args)
    kwargs = without_defaults(public_api, kwargs)
    types = tuple(type(value) for value in overridden)
    for value in overridden:
        method: Any = type(value).__torch_function__  # type: ignore[attr-defined]
        result = method(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(
        f"no implementation found for '{public_api.__name__}': Multiple dispatch failed, all "
        "__torch_function__ handlers returned NotImplemented: "
        + ", ".join(kind.__name__ for kind in types)
    )


def without_defaults(public_api: Callable[..., Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Leave out defaults, which ops pass on: overrides may have no such parameters."""
    if not kwargs:
        return kwargs
    defaults = _defaults(public_api)
    return {n: v for n, v in kwargs.items() if not any(v is d for d in defaults.get(n, ()))}


@cache
def _defaults(public_api: Callable[..., Any]) -> dict[str, list[Any]]:
    """The defaults of a function's keyword-only parameters, of each of its overloads."""
    found: dict[str, list[Any]] = {}
    for function in getattr(public_api, "overloads", (public_api,)):
        for name, default in (getattr(function, "__kwdefaults__", None) or {}).items():
            found.setdefault(name, []).append(default)
    return found


def in_order(relevant_args: Iterable[object]) -> list[object]:
    """One argument of each type that has overrides, in the order in which they are asked."""
    ordered: list[object] = []
    for value in relevant_args:
        if not is_overridden(value) or any(type(value) is type(other) for other in ordered):
            continue
        index = len(ordered)
        for position, other in enumerate(ordered):
            if issubclass(type(value), type(other)):
                index = position
                break
        ordered.insert(index, value)
    return ordered

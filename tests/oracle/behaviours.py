"""Small functions run in this library and in PyTorch, as facts that can be compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import gradspec as gs

Behaviour = Callable[[Any], Any]
"""Takes the library (`gradspec` or `torch`), answers anything made of tensors and plain values."""


def observe(behaviour: Behaviour, library: Any) -> Any:
    """Return the facts of its answer, or the type of its exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return facts(behaviour(library))
        except Exception as error:
            return f"raises {type(error).__name__}"


def assert_same(behaviour: Behaviour, torch: Any) -> None:
    """Both libraries do the same."""
    mine, theirs = observe(behaviour, gs), observe(behaviour, torch)
    assert mine == theirs, f"\n{mine}\nin PyTorch\n{theirs}"


def facts(value: Any) -> Any:
    """A value as plain data; what only one of the libraries could have is left out."""
    if _is_tensor(value):
        node = value.grad_fn
        return {
            "values": _rounded(value.detach().tolist()),
            "dtype": str(value.dtype).removeprefix("torch."),
            "shape": list(value.shape),
            "requires_grad": value.requires_grad,
            "is_leaf": value.is_leaf,
            "grad_fn": None if node is None else node.name().removeprefix("torch::autograd::"),
        }
    if isinstance(value, Mapping):
        return {str(key): facts(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [facts(item) for item in value]
    if isinstance(value, float | complex):
        return _rounded(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if hasattr(value, "next_functions"):
        return value.name().removeprefix("torch::autograd::")
    return type(value).__name__


def attempt(function: Callable[[], Any]) -> Any:
    """The answer of a part of a behaviour, or the type of its exception in words."""
    try:
        return function()
    except Exception as error:
        return f"raises {type(error).__name__}"


def leaf(library: Any, *values: Any) -> Any:
    """A float64 vector that requires grad."""
    return library.tensor(list(values), dtype=library.float64, requires_grad=True)


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "grad_fn") and hasattr(value, "tolist")


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, bool | int):
        return value
    return f"{value + 0:.5g}"

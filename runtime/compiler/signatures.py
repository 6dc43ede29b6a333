"""The signature of a call: what of its arguments decides on the program."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.modes import this_thread
from ..core.tensor import Tensor
from ..dtypes.promotion import get_default_dtype
from ..func.trees import map_leaves, parts_of


def signature(args: Any, kwargs: Any) -> tuple[list[Any], Any]:
    """Return the distinct tensors and arrays among arguments, and what decides on the program."""
    leaves: list[Any] = []
    numbers: dict[int, int] = {}
    modes = this_thread.blocks.modes()
    parts: list[Any] = [modes.records, modes.inference, get_default_dtype()]
    for value in args:
        _sign(value, leaves, numbers, parts)
    for name, value in kwargs.items():
        parts.append(name)
        _sign(value, leaves, numbers, parts)
    return leaves, tuple(parts)


def _sign(value: Any, leaves: list[Any], numbers: dict[int, int], parts: list[Any]) -> None:
    kind = type(value)
    if kind is Tensor or isinstance(value, Tensor | np.ndarray):
        known = numbers.setdefault(id(value), len(leaves))
        if known == len(leaves):
            leaves.append(value)
            parts.append(form_of(value))
        else:
            parts.append(known)
    elif kind is tuple or kind is list or isinstance(value, tuple | list):
        parts.append((kind, len(value)))
        for item in value:
            _sign(item, leaves, numbers, parts)
    elif isinstance(value, dict):
        parts.append((kind, tuple(value)))
        for item in value.values():
            _sign(item, leaves, numbers, parts)
    elif isinstance(value, float | complex):
        parts.append((kind, repr(value)))  # -0.0 and NaN are values of their own
    elif isinstance(value, int | str | bytes | bool | type(None) | np.dtype):
        parts.append((kind, value))
    elif (opened := parts_of(value)) is not None:
        parts.append(opened[0])
        for item in opened[1]:
            _sign(item, leaves, numbers, parts)
    else:
        parts.append((kind, id(value)))


def outline(value: Any) -> Any:
    """Return which containers there are, and the ids of their leaves: what a function may change.

    The leaves have to live on for as long as outlines are compared.
    """
    if isinstance(value, list | tuple):
        return type(value), [outline(item) for item in value]
    if isinstance(value, dict):
        return type(value), list(value), [outline(item) for item in value.values()]
    opened = None if isinstance(value, Tensor) else parts_of(value)
    return id(value) if opened is None else (opened[0], [outline(item) for item in opened[1]])


def other_leaves(args: Any, kwargs: Any) -> list[Any]:
    """Return the arguments that are neither tensors, arrays nor constants: modules, functions."""
    found: list[Any] = []

    def look(leaf: Any) -> Any:
        constants = (Tensor, np.ndarray, int, float, complex, str, bytes, np.dtype)
        if not isinstance(leaf, constants):
            found.append(leaf)
        return leaf

    map_leaves(look, [list(args), kwargs])
    return found


def form_of(value: Any) -> Any:
    """Return what a program is made for of a tensor or an array."""
    if type(value) is Tensor or isinstance(value, Tensor):
        array = value.array
        return array.shape, array.dtype, array.strides, value.grad_node is not None
    return "array", value.shape, value.dtype, value.strides


def difference(known: Any, key: Any) -> str:
    """Say what differs between two signatures."""
    if known is None or len(known) != len(key):
        return "the structure of the arguments"
    for before, after in zip(known, key, strict=True):
        if before != after:
            return f"{_shown(before)} to {_shown(after)}"
    return "something outside of the function"


def _shown(part: Any) -> str:
    if isinstance(part, tuple) and len(part) == 4 and isinstance(part[0], tuple):
        return f"a tensor {list(part[0])} of {part[1]}"
    return repr(part[1]) if isinstance(part, tuple) and len(part) == 2 else repr(part)

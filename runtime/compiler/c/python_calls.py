"""Steps that have no C: their functions, called between two C functions.

The module is muted (see `core.numpy_warnings`), as the calls of a ufunc would warn here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.numpy_warnings import mute
from ..numpy_backend import build as build_for_numpy
from ..program import Step, Value
from ..steps import function_of
from .layout import extent


def python_function(step: Step, inputs: tuple[Value, ...]) -> Callable[..., Any]:
    """Return a step as a function of its arrays; its results lie as those of the capture."""
    function = function_of(step.function)
    if step.function == "array.loop":
        function = functools.partial(function, body=build_for_numpy(step.args[0].body))

    def run(*arrays: Any) -> tuple[Any, ...]:
        given = dict(zip(inputs, arrays, strict=True))
        found = function(*_filled(step.args, given), **_filled(dict(step.kwargs), given))
        results = found if step.is_tuple else (found,)
        return tuple(
            _as_captured(array, value, arrays)
            for array, value in zip(results, step.outputs, strict=False)
            if value.base is None  # views are read where they lie
        )

    return run


def _filled(structure: Any, arrays: dict[Value, Any]) -> Any:
    """Return arguments with arrays for values, those in slices as well."""
    if isinstance(structure, slice):
        parts = (structure.start, structure.stop, structure.step)
        return slice(*_filled(parts, arrays))
    if isinstance(structure, tuple):
        items = [_filled(item, arrays) for item in structure]
        return getattr(type(structure), "_make", tuple)(items)
    if isinstance(structure, list):
        return [_filled(item, arrays) for item in structure]
    if isinstance(structure, dict):
        return {key: _filled(item, arrays) for key, item in structure.items()}
    return arrays.get(structure, structure) if isinstance(structure, Value) else structure


def _as_captured(array: Any, value: Value, arrays: tuple[Any, ...]) -> Any:
    """Return an array with memory of its own, in the layout of a value."""
    found = np.asarray(array)
    is_own = found.base is None or not any(np.may_share_memory(found, each) for each in arrays)
    if is_own and found.dtype == value.dtype and found.flags.aligned:
        lengths = zip(found.strides, value.strides, found.shape, strict=True)
        if all(ours == theirs or length == 1 for ours, theirs, length in lengths):
            return found
    before, size = extent(value)
    memory = np.empty(max(size, 1), np.uint8)
    made = np.ndarray(value.shape, value.dtype, memory.data, before, value.strides)
    if value.size:
        np.copyto(made, found, casting="unsafe")
    return made


mute(globals())

"""A kernel of one's own, called twice: it keeps nothing, writes into nothing, and gives new arrays.

A formula cannot do otherwise. A function of Python can: it may sort its argument in place, answer
from what an earlier call left in its module, or give an array that a later call gives again.
"""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any

import numpy as np

from ...spec.own_kernels import MODULE
from ..identities.identity import Mismatch
from ..identities.run import Call
from ..inputs.other_arrays import arrays_of, in_dtype
from .call import CallWithNumbers

Array = np.ndarray[Any, Any]

DTYPES = (np.float64, np.float32, np.float16, np.int64)
"""Dtypes of the calls: a kernel may do for one what it does not for another."""

_OF_PYTHON = frozenset({"__annotations__", "__builtins__", "__dict__", "__loader__", "__spec__"})
"""Names that Python itself puts into files and classes."""

_PLAIN = (
    *(bool, int, float, complex, str, bytes, range, slice, type(None), type(...)),
    *(np.generic, np.dtype, np.ufunc, ModuleType, BuiltinFunctionType),
    *(GetSetDescriptorType, MemberDescriptorType, property, staticmethod, classmethod),
)
"""Types of values that do not change."""

_CACHED = type(functools.cache(len))


def check_called_again(call: CallWithNumbers, module: ModuleType) -> None:
    """Make a call twice in several dtypes, and compare what there was before and after.

    Raises Mismatch.
    """
    for dtype in DTYPES:
        values = in_dtype(call.values, dtype)
        before = _state_of(vars(module))
        first = _call(call, values)
        if _state_of(vars(module)) != before:
            text = "a kernel keeps something between calls in the file: compute it at each call"
            raise Mismatch("kernel", _key(call), text)
        if first is None:
            continue
        kept = {name: array.copy() for name, array in first.items()}
        second = _call(call, values)
        for name, array in kept.items():
            _compare(call, name, array, (first[name], None if second is None else second[name]))


def _call(call: CallWithNumbers, values: dict[str, Any]) -> dict[str, Array] | None:
    """The outputs; None if the op refuses the call. Raises Mismatch for what it wrote into."""
    before = [array.copy() for array in arrays_of(values.values())]
    try:
        outputs = {n: tensor.array for n, tensor in Call(call.spec, values, [])().items()}
    except Exception:
        outputs = None
    for old, new in zip(before, arrays_of(values.values()), strict=True):
        if old.tobytes() != new.tobytes():
            text = f"a kernel writes into an argument of {old.dtype}: let it copy that first"
            raise Mismatch("kernel", _key(call), text)
    return outputs


def _compare(
    call: CallWithNumbers, name: str, kept: Array, again: tuple[Array, Array | None]
) -> None:
    first, second = again
    if second is None or not np.array_equal(kept, second, equal_nan=kept.dtype.kind in "fc"):
        text = "is another at the second of two equal calls"
        raise Mismatch(f"kernel of {name}", _key(call), text)
    if call.spec.signature.view_of is None and np.shares_memory(first, second):
        text = "lies in the memory of what the call before gave: let it make a new array"
        raise Mismatch(f"kernel of {name}", _key(call), text)


def _key(call: CallWithNumbers) -> str:
    return "forward" if call.spec.kernel is None else "kernel"


def _state_of(value: Any, inside: tuple[int, ...] = ()) -> Any:
    """The content of a value, to be compared; that of other modules and their classes is none.

    Raises Mismatch for what does not tell its state, as a generator.
    """
    if id(value) in inside:
        return None
    inside = (*inside, id(value))
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, repr(value.tolist())
    if isinstance(value, Mapping):
        return [
            (repr(key), _state_of(item, inside))
            for key, item in value.items()
            if not (isinstance(key, str) and key in _OF_PYTHON)
        ]
    if isinstance(value, list | tuple | set | frozenset):
        return [_state_of(item, inside) for item in value]
    if isinstance(value, type):
        return _state_of(vars(value), inside) if value.__module__.endswith(MODULE) else None
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        parts = (value.__defaults__, value.__kwdefaults__, vars(value), cells)
        return [_state_of(part, inside) for part in parts]
    if isinstance(value, _CACHED):
        return _Kept.of(value, inside)
    return None if _is_of_library(value) else _state_of_object(value, inside)


def _is_of_library(value: Any) -> bool:
    """Return whether a value is what a module of others calls so, as a function of NumPy is."""
    name, module = getattr(value, "__name__", None), getattr(value, "__module__", None)
    home = sys.modules.get(module) if isinstance(module, str) else None
    is_named = isinstance(name, str) and getattr(home, name, None) is value
    return is_named and not str(module).endswith(MODULE)


def _state_of_object(value: Any, inside: tuple[int, ...]) -> Any:
    try:
        made_of = value.__reduce_ex__(2)
    except Exception:
        text = f"keeps a {type(value).__name__} in the file, which may change from call to call"
        raise Mismatch("kernel", "forward", f"{text}: make it in the kernel") from None
    parts = made_of if isinstance(made_of, tuple) else ()
    known = [*parts[1:3], *(list(items) for items in parts[3:5] if items is not None)]
    return type(value).__name__, [_state_of(part, inside) for part in known]


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    """The results that `functools.cache` keeps: there may be more, but these must not change."""

    results: dict[int, tuple[Any, Any]]
    """Each with its content: it stays alive, so its number is that of no other."""

    @classmethod
    def of(cls, function: Any, inside: tuple[int, ...]) -> _Kept:
        """The results of a function at this moment."""
        held = [each for each in gc.get_referents(function) if each is not vars(function)]
        if function.cache_parameters()["maxsize"] is None:
            held = [item for each in held if isinstance(each, dict) for item in each.values()]
        results = [each for each in held if not isinstance(each, type | FunctionType)]
        kept = (each for each in results if not _is_of_links(each))
        return cls({id(each): (each, _state_of(each, inside)) for each in kept})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Kept):
            return False
        both = self.results.keys() & other.results.keys()
        return all(self.results[key][1] == other.results[key][1] for key in both)

    __hash__ = None  # type: ignore[assignment]


def _is_of_links(value: Any) -> bool:
    """Return whether a value is the index of a cache that has a bound, beside its results."""
    links = value.values() if isinstance(value, dict) else ()
    return isinstance(value, dict) and all(type(v).__name__ == "_lru_list_elem" for v in links)

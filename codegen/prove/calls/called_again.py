"""A kernel of one's own, called twice: it keeps nothing, writes into nothing, and gives new arrays.

A formula cannot do otherwise. A function of Python can: it may sort its argument in place, answer
from what an earlier call left in its module, or give an array that a later call gives again.
"""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ..identities.identity import Mismatch
from ..identities.run import Call
from ..inputs.other_arrays import arrays_of, in_dtype
from .call import CallWithNumbers

Array = np.ndarray[Any, Any]

DTYPES = (np.float64, np.float32, np.float16, np.int64)
"""Dtypes of the calls: a kernel may do for one what it does not for another."""

DEEPEST = 6
"""Lists in lists of a module that are looked into."""


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


def _state_of(value: Any, depth: int = 0) -> Any:
    """The content of a value, to be compared; that of modules and classes is none."""
    if depth > DEEPEST or isinstance(value, ModuleType | type):
        return None
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, repr(value.tolist())
    if isinstance(value, dict):
        return [
            (repr(key), _state_of(item, depth + 1))
            for key, item in value.items()
            if not (isinstance(key, str) and key.startswith("__"))
        ]
    if isinstance(value, list | tuple | set | frozenset):
        return [_state_of(item, depth + 1) for item in value]
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        parts = (value.__defaults__, value.__kwdefaults__, vars(value), cells)
        return [_state_of(part, depth + 1) for part in parts]
    held = getattr(value, "__dict__", None)
    return repr(value), _state_of(held, depth + 1) if isinstance(held, dict) else None

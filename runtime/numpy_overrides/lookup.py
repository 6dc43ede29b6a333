"""From a function of NumPy to the one of this library that answers for tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..dispatch.registry import ops
from . import elements, fourier, matrices, picks, reductions, series, shapes, ufuncs, values
from .refusals import REFUSED

_BY_MODULE = {
    "numpy": {
        **elements.FUNCTIONS,
        **matrices.FUNCTIONS,
        **picks.FUNCTIONS,
        **reductions.FUNCTIONS,
        **series.FUNCTIONS,
        **shapes.FUNCTIONS,
    },
    "numpy.linalg": matrices.LINALG,
    "numpy.fft": fourier.FOURIER,
}


def function_override(module: str, name: str) -> Callable[..., Any] | None:
    """Return the override of a function of NumPy; None if it has none."""
    found = _BY_MODULE.get(module, {}).get(name)
    return values.override_of(name) if found is None and module == "numpy" else found


def ufunc_override(name: str) -> Callable[..., Any] | None:
    """Return the override of a ufunc; None if it has none."""
    adapted = ufuncs.ADAPTED.get(name)
    op = ufuncs.UFUNCS.get(name)
    return adapted or (None if op is None else _op(op))


def method_override(name: str, method: str) -> Callable[..., Any] | None:
    """Return the override of a method of a ufunc, such as `np.add.reduce`; None if it has none."""
    if method == "reduce" and name in ufuncs.REDUCE:
        return lambda *args, **named: ufuncs.reduced(name, *args, **named)
    if method == "accumulate" and name in ufuncs.ACCUMULATE:
        return lambda *args, **named: ufuncs.accumulated(name, *args, **named)
    override = ufunc_override(name)
    if method == "outer" and override is not None:
        return lambda a, b: ufuncs.outer(override, a, b)
    return None


def reason(module: str, name: str) -> str | None:
    """Return why a function or a ufunc of NumPy has no override, where that is told."""
    path = f"{module}.{name}".removeprefix("numpy.")
    return REFUSED.get(path) or ufuncs.REFUSED.get(path)


def _op(name: str) -> Callable[..., Any]:
    """Return the op of a name, or of the name of which it is an alias."""
    function: Callable[..., Any]
    try:
        function = getattr(ops, name)
    except AttributeError:
        function = getattr(Tensor, name)
    return function

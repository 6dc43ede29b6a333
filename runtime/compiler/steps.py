"""The functions that steps call by a name that begins with `array.`, and what names stand for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from .. import kernels
from ..core.random_generator import Generator
from .program import Loop, Program, Value, rewrite

Array: TypeAlias = np.ndarray[Any, Any]
View: TypeAlias = tuple[str, tuple[Any, ...], dict[str, Any]]
"""A function that answers a view of its first argument, with its further arguments."""


def getitem(a: Array, index: Any) -> Any:
    """`a[index]`: a view for slices, numbers, `...` and None; a copy for arrays."""
    return a[index]


def reshape(a: Array, shape: tuple[int, ...]) -> Array:
    """The elements in the same order: a view where NumPy makes one."""
    return a.reshape(shape)


def transpose(a: Array, axes: tuple[int, ...] | None = None) -> Array:
    """A view with the dimensions in another order; None reverses it."""
    return a.transpose(axes)


def broadcast_to(a: Array, shape: tuple[int, ...]) -> Array:
    """A view with stride 0 where a dimension is repeated."""
    return np.broadcast_to(a, shape)


def astype(a: Array, dtype: Any, order: str = "K") -> Array:
    """A copy in another dtype."""
    return a.astype(dtype, order=order)  # type: ignore[call-overload]


def view(a: Array, dtype: Any) -> Array:
    """The same bytes as elements of another dtype."""
    return a.view(dtype)


def real(a: Array) -> Array:
    """The real parts, a view; a real array is its own."""
    return a.real


def imag(a: Array) -> Array:
    """The imaginary parts of complex numbers, a view."""
    return a.imag


def as_strided(
    a: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, dtype: Any
) -> Array:
    """A view of the memory of `a` by strides in bytes, from `offset` bytes after its start on."""
    flat = np.lib.stride_tricks.as_strided(a, (_extent(a),), (a.itemsize,)).view(np.uint8)
    return np.ndarray(shape, dtype, flat.data, offset, strides)


def _extent(a: Array) -> int:
    """The elements from the first to the last one in memory; 0 if there are none."""
    if not a.size:
        return 0
    last = sum((n - 1) * step for n, step in zip(a.shape, a.strides, strict=True))
    return last // a.itemsize + 1


def copy(a: Array, order: str = "K") -> Array:
    """The same elements in memory of their own."""
    return np.array(a, order=order)  # type: ignore[call-overload]


def overwrite(a: Array, views: tuple[View, ...], index: Any, values: Any) -> Array:
    """A copy of `a` with `values`, cast to its dtype, at `index` of what `views` lead to.

    Each of them is applied to what the one before has answered; without any it is `a` itself.
    """
    out = copied(a)
    _writable(out, views)[index] = values
    return out


def fill(a: Array, values: Any) -> Array:
    """An array like `a` with `values`, broadcast and cast to its dtype: it does not read `a`."""
    out = np.empty_like(a)
    out[...] = values
    return out


def add_at(a: Array, views: tuple[View, ...], index: Any, values: Any) -> Array:
    """A copy of `a` to which `values` are added at `index`, as often as an index occurs."""
    out = copied(a)
    np.add.at(_writable(out, views), index, values)
    return out


def number(a: Array, like: tuple[Any, ...]) -> Array:
    """An array without dimensions, cast as a Python number beside arrays of the dtypes `like`."""
    kind = {"f": 0.0, "c": 0j}.get(a.dtype.kind, 0)
    return a.astype(np.result_type(*like, kind))


def draw(generator: Generator, method: str, *args: Any, **kwargs: Any) -> Array:
    """New random numbers: a method of a generator. It has another result at every call."""
    return np.asarray(getattr(generator.numpy, method)(*args, **kwargs))


def loop(
    repeated: Loop,
    states: Sequence[Array],
    rows: Sequence[Array],
    others: Sequence[Array],
    body: Callable[..., Sequence[Array]] | None = None,
) -> list[Array]:
    """The last states, and the results of all rounds, each in one array.

    `body` runs the program of a round; without it that is done step by step.
    """
    run = functools.partial(run_steps, repeated.body) if body is None else body
    count, length = repeated.states, repeated.length
    found: Sequence[Array] = states
    if length is None:
        while found[0]:
            found = run(*found, *others)
        return [each.copy() for each in found] if found is states else list(found)
    results = [np.empty((length, *v.shape), v.dtype) for v in repeated.body.outputs[count:]]
    for nr in reversed(range(length)) if repeated.is_reversed else range(length):
        found = run(*found[:count], *[row[nr, ...] for row in rows], *others)
        for result, part in zip(results, found[count:], strict=True):
            result[nr] = part
    return [*found[:count], *results]


def copied(array: Array) -> Array:
    """Return a copy of the same strides, so that what is computed of it has the same layout."""
    out: Array = np.empty_like(array, subok=False)
    if out.strides != array.strides and array.size:
        span = sum((n - 1) * abs(s) for n, s in zip(array.shape, array.strides, strict=True))
        first = sum((n - 1) * -s for n, s in zip(array.shape, array.strides, strict=True) if s < 0)
        buffer = np.zeros(span + array.itemsize, np.uint8)
        out = np.ndarray(array.shape, array.dtype, buffer.data, first, array.strides)
    out[...] = array
    return out


def run_steps(program: Program, *inputs: Array) -> list[Array]:
    """Run a program step by step, and return its outputs."""
    arrays: dict[Value, Any] = {
        **dict(program.constants),
        **dict(zip(program.inputs, inputs, strict=True)),
    }
    for step in program.steps:
        args, kwargs = rewrite((step.args, dict(step.kwargs)), arrays)
        found = function_of(step.function)(*args, **kwargs)
        for value, array in zip(step.outputs, found if step.is_tuple else (found,), strict=True):
            arrays[value] = np.asarray(array)
    return [arrays[value] for value in program.outputs]


def require(condition: Any, message: str) -> None:
    """Raise RuntimeError unless all elements are true."""
    if not np.all(condition):
        raise RuntimeError(message)


def seen(a: Array, views: tuple[View, ...]) -> Array:
    """Return the view of `a` that `views` lead to."""
    for name, args, kwargs in views:
        a = function_of(name)(a, *args, **kwargs)
    return a


def _writable(a: Array, views: tuple[View, ...]) -> Array:
    """Return the same, to be written to: a diagonal of NumPy's is not, unless it is asked."""
    view = seen(a, views)
    view.flags.writeable = True
    return view


@cache
def function_of(name: str) -> Callable[..., Any]:
    """Return the function that a step calls by a name."""
    kind, _, rest = name.partition(".")
    if kind == "array":
        found = globals()[rest]
    elif kind == "kernels":
        found = getattr(kernels, rest)
        if hasattr(found, "original"):  # a capture runs
            found = found.original()
    elif kind == "scipy":
        found = _scipy_ufunc(rest)
    else:
        found = np
        for part in rest.split("."):
            found = getattr(found, part)
    function: Callable[..., Any] = found
    return function


def _scipy_ufunc(name: str) -> Any:
    """Return a ufunc of SciPy's; those that it keeps to itself are in another module."""
    from scipy import special
    from scipy.special import _ufuncs

    return getattr(special, name, None) or getattr(_ufuncs, name)


IMPURE = frozenset({"array.draw", "array.require"})
"""Functions whose calls must stay, as often as they are there and in order."""

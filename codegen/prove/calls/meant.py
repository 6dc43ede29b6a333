"""A condition for `requires` that examples meet, and a call at which a rule fails does not.

A suggestion only: an author knows which calls are meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import numpy as np

from ...spec.model import OpSpec

Values = dict[str, Any]
Holds = Callable[[Values], bool]


def suggestion(spec: OpSpec, meant: list[Values], failing: Values) -> str:
    """Suggest a condition, if there is a simple one."""
    for condition in _conditions(spec, meant):
        text, holds = condition
        if not holds(failing) and all(map(holds, meant)):
            return f"if such calls are not meant, say so: `requires: {text}`"
    return "`requires:` says which calls are meant"


def _conditions(spec: OpSpec, meant: list[Values]) -> Iterator[tuple[str, Holds]]:
    """Conditions, the simplest first, each with a function of arguments."""
    yield from _on_shapes(spec, meant)
    yield from _on_numbers(spec, meant)


def _on_shapes(spec: OpSpec, meant: list[Values]) -> Iterator[tuple[str, Holds]]:
    names = [param.name for param in spec.signature.tensor_params if not param.type.is_list]
    for name in names:
        dims = {np.ndim(values[name]) for values in meant}
        if len(dims) == 1:
            (ndim,) = dims
            yield f"{name}.ndim == {ndim}", _has_ndim(name, ndim)
        if dims and min(dims) > 0:
            yield f"{name}.ndim > {min(dims) - 1}", _has_more_than(name, min(dims) - 1)
    for one, other in permutations(names, 2):
        if one < other:
            yield f"{one}.shape == {other}.shape", _same_shape(one, other)
        yield f"{one}.shape == {other}.shape[-1:]", _is_last_dim(one, other)
        yield f"{one}.shape[0] == {other}.shape[0]", _same_first(one, other)


def _on_numbers(spec: OpSpec, meant: list[Values]) -> Iterator[tuple[str, Holds]]:
    for param in spec.signature.params:
        given = [values[param.name] for values in meant]
        if param.type.is_tensor_list and len(lengths := {len(items) for items in given}) == 1:
            (length,) = lengths
            yield f"len({param.name}) == {length}", _has_length(param.name, length)
        if all(type(number) in (int, float) for number in given):
            if min(given) > 0:
                yield f"{param.name} > 0", _is_positive(param.name)
            if min(given) >= 0:
                yield f"{param.name} >= 0", _is_nonnegative(param.name)


def _has_length(name: str, length: int) -> Holds:
    return lambda values: len(values[name]) == length


def _is_real(number: Any) -> bool:
    return isinstance(number, int | float)


def _is_positive(name: str) -> Holds:
    return lambda values: _is_real(values[name]) and values[name] > 0


def _is_nonnegative(name: str) -> Holds:
    return lambda values: _is_real(values[name]) and values[name] >= 0


def _shape(values: Values, name: str) -> tuple[int, ...] | None:
    value = values[name]
    return None if value is None else np.shape(value)


def _has_ndim(name: str, ndim: int) -> Holds:
    return lambda values: values[name] is None or np.ndim(values[name]) == ndim


def _has_more_than(name: str, ndim: int) -> Holds:
    return lambda values: values[name] is None or np.ndim(values[name]) > ndim


def _same_shape(one: str, other: str) -> Holds:
    return lambda values: _shape(values, one) == _shape(values, other)


def _is_last_dim(one: str, other: str) -> Holds:
    def holds(values: Values) -> bool:
        shape = _shape(values, other)
        return shape is not None and _shape(values, one) == shape[-1:]

    return holds


def _same_first(one: str, other: str) -> Holds:
    def holds(values: Values) -> bool:
        first, second = _shape(values, one), _shape(values, other)
        return bool(first and second) and first[0] == second[0]  # type: ignore[index]

    return holds

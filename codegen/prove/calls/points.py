"""Numbers for the arguments of a call: of the usual sizes, and where something may be special.

All are multiples of 2**-20, so that single and double precision compute with the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ...spec.model import REQUIRED, OpSpec, Param
from ...spec.vocabulary import FACTORIZATIONS
from ..inputs import domain

Values = dict[str, Any]
Array = np.ndarray[Any, Any]

FEW = 12
"""A call with at most so many elements is tried where single ones are special, too."""

SYMMETRIC = frozenset({"cholesky", "eigh"})
"""The kinds of matrices that equal their transposes: one half of them may be read."""

_TRIES = 30


class NoCall(Exception):
    """The arguments cannot be made."""


def arguments(spec: OpSpec, args: dict[str, Any], rng: np.random.Generator) -> Values:
    """The arguments of a call, with numbers for the tensors that are given by their shapes."""
    values: Values = {}
    for param in spec.signature.params:
        if param.name in args:
            values[param.name] = _argument(spec, param, args[param.name], rng)
        elif param.default is REQUIRED:
            raise NoCall(param.name)
        else:
            values[param.name] = param.default
    return values


def _argument(spec: OpSpec, param: Param, given: Any, rng: np.random.Generator) -> Any:
    if param.type.base == "ScalarType" and isinstance(given, str):
        return np.dtype(given)
    if param.type.base != "Tensor" or given is None:
        return given
    bounds = domain.bounds(param.name, [c for name, c in spec.domain if name == param.name])
    if param.type.is_list:
        return [_tensor(item, bounds, rng) for item in given]
    return _tensor(given, bounds, rng)


def _tensor(given: Any, bounds: tuple[float, float], rng: np.random.Generator) -> Any:
    if given is None:
        return None
    if isinstance(given, Mapping):
        ((kind, data),) = given.items()
        if kind == "complex":
            return _draw(tuple(data), bounds, rng) + 1j * _draw(tuple(data), bounds, rng)
        if kind in FACTORIZATIONS:
            return _product(kind, tuple(data), rng)
        return np.asarray(data, {"int": np.int64, "bool": np.bool_, "float": np.float64}[kind])
    return _draw(tuple(given), bounds, rng)


def _draw(shape: tuple[int, ...], bounds: tuple[float, float], rng: np.random.Generator) -> Array:
    low, high = bounds
    if np.isfinite(low) and np.isfinite(high):
        numbers = low + (high - low) * rng.uniform(0.1, 0.9, shape)
    else:
        numbers = rng.uniform(0.25, 2.0, shape)
        if np.isfinite(low):
            numbers = low + numbers
        elif np.isfinite(high):
            numbers = high - numbers
        else:
            numbers = numbers * rng.choice((-1.0, 1.0), shape)
    return np.asarray(np.round(numbers * 2**20) / 2**20)


def _product(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """A matrix of the kind that an example asks for by its factors."""
    rows, columns = shape[-2], shape[-1]
    square = rng.normal(size=(*shape[:-2], rows, columns))
    if kind == "cholesky":
        return square @ np.swapaxes(square, -1, -2) + rows * np.eye(rows)
    if kind == "eigh":
        return square + np.swapaxes(square, -1, -2)
    if kind == "singular":
        square[..., -1, :] = square[..., 0, :] if rows > 1 else 0.0
    return square


def usual_points(
    spec: OpSpec, args: dict[str, Any], rng: np.random.Generator, count: int
) -> Iterator[Values]:
    """So many points inside the domain, of unlike sizes."""
    found = 0
    for number in range(_TRIES):
        values = arguments(spec, args, rng)
        if number % 3 == 1:
            values = _scaled(spec, values, 16.0)
        if domain.is_inside(spec.domain, values):
            found += 1
            yield values
            if found == count:
                return


def _scaled(spec: OpSpec, values: Values, factor: float) -> Values:
    bounded = {name for name, _ in spec.domain}
    return {
        name: np.asarray(value * factor)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and name not in bounded
        else value
        for name, value in values.items()
    }


def special_points(
    spec: OpSpec, args: dict[str, Any], rng: np.random.Generator, numbers: list[float]
) -> Iterator[Values]:
    """Zeros, equal elements, equal arguments, and what the formulas compare with."""
    values = arguments(spec, args, rng)
    names = [n for n, v in values.items() if isinstance(v, np.ndarray) and v.dtype.kind in "fc"]
    names = [n for n in names if values[n].size]
    if not names:
        return
    compared = [number * sign for number in numbers for sign in (1, -1)]
    if sum(values[name].size for name in names) > FEW:
        yield from _special_large(values, names, compared)
        return
    sides = [n + k * max(1.0, abs(n)) / 16 for n in compared for k in (1, -1)]
    interesting = dict.fromkeys((0.0, *compared, *sides, 1.0, -1.0, 1e3, -1e3))
    for one, other in pairwise(names):
        if values[one].shape == values[other].shape:
            yield values | {other: values[one].copy()}
    for one, other in pairwise(names):  # where a product, a quotient or a sum is compared
        for number in compared:
            for beside in (1.0, 0.0):
                yield values | {
                    one: _placed(values[one], [0], number),
                    other: _placed(values[other], [0], beside),
                }
                yield values | {
                    one: _placed(values[one], [0], beside),
                    other: _placed(values[other], [0], number),
                }
    for number in interesting:  # those first that formulas compare with, for all arguments
        for name in names:
            size = values[name].size
            for place in dict.fromkeys((0, size // 2)):
                yield values | {name: _placed(values[name], [place], number)}
            if size > 1:
                yield values | {name: np.full_like(values[name], number)}
    for name in names:
        size = values[name].size
        if size > 1:
            first = values[name].flat[0]
            yield values | {name: _placed(values[name], [size - 1], first)}
            yield values | {name: np.full_like(values[name], first)}
            yield values | {name: _placed(values[name], [0, size - 1], 0.0)}
    for number in (0.0, 1.5):
        yield values | {name: np.full_like(values[name], number) for name in names}
    for one, other in pairwise(names):
        if values[one].shape == values[other].shape:
            yield values | {other: np.asarray(-values[one])}
        yield values | {
            one: _placed(values[one], [0], 0.0),
            other: _placed(values[other], [0], 0.0),
        }
    for name in names:  # beyond the domain
        yield values | {name: np.asarray(-values[name])}


def infinite_points(values: Values) -> Iterator[Values]:
    """One element of each tensor infinite, and not a number.

    Most results are neither there, and nothing is asked. An op that replaces such an element does
    not change with it.
    """
    for name, value in values.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
            for number in (np.inf, -np.inf, np.nan):
                yield values | {name: _placed(value, [0], number)}


def _special_large(values: Values, names: list[str], compared: list[float]) -> Iterator[Values]:
    """The plainest special points, where there are many elements."""
    for name in names:
        for number in dict.fromkeys((0.0, *compared)):
            yield values | {name: _placed(values[name], [0], number)}
        yield values | {name: np.zeros_like(values[name])}
    for one, other in pairwise(names):
        if values[one].shape == values[other].shape:
            yield values | {other: values[one].copy()}


def _placed(array: Array, places: list[int], number: Any) -> Array:
    changed = array.copy()
    changed.flat[places] = number
    return changed

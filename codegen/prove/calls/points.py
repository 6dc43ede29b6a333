"""Numbers for the arguments of a call: of the usual sizes, and where something may be special.

All are multiples of 2**-20, so that single and double precision compute with the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ...spec.model import REQUIRED, Example, OpSpec, Param
from ...spec.vocabulary import FACTORIZATIONS
from ..identities.run import Call, Leaf, argument
from ..inputs import domain
from ..inputs.special_points import replaced
from .call import float_leaves

Values = dict[str, Any]
Array = np.ndarray[Any, Any]

FEW = 12
"""Largest number of elements of a call that is tried where single ones are special, too."""

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
            real, imag = (_draw(tuple(data), bounds, rng) for _ in range(2))
            return np.asarray(real + 1j * imag)
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
            numbers = np.where(rng.random(shape) < 0.5, -numbers, numbers)
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


def reads_one_half(spec: OpSpec, examples: tuple[Example, ...], name: str) -> bool:
    """Return whether an op reads one half of a matrix: then it moves in symmetric directions."""
    rng = np.random.default_rng(0)
    for example in examples:
        values = arguments(spec, dict(example.args), rng)
        for half in (np.triu, np.tril):
            other = values[name] + half(np.ones_like(values[name]), 1 if half is np.triu else -1)
            try:
                before, after = Call(spec, values, [])(), Call(spec, values | {name: other}, [])()
            except Exception:
                continue
            if all(np.array_equal(before[n].array, after[n].array) for n in before):
                return True
    return False


def usual_points(
    spec: OpSpec, args: dict[str, Any], rng: np.random.Generator, count: int
) -> Iterator[Values]:
    """Draw a number of points inside the domain, of different sizes."""
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
    """Zeros, equal elements, equal arguments, and what the formulas compare with.

    Tensors that an example gives by factors stay as they are.
    """
    values = arguments(spec, args, rng)
    arrays = {
        leaf: argument(values, leaf)
        for leaf in float_leaves(spec, values)
        if argument(values, leaf).size and not _is_of_factors(args.get(leaf[0]))
    }
    if not arrays:
        return
    given = [float(number) for number in _numbers(values) if np.isfinite(number)]
    compared = list(
        dict.fromkeys(n * sign for n in (*numbers, *given) if np.isfinite(n) for sign in (1, -1))
    )
    if sum(array.size for array in arrays.values()) > FEW:
        changes = _special_large(arrays, compared)
    else:
        changes = _special_small(arrays, compared)
    for change in changes:
        yield replaced(values, change)


Arrays = dict[Leaf, Array]


def _numbers(values: Values) -> Iterator[float]:
    """The numbers among the arguments, alone and in lists: elements may be what these are."""
    for value in values.values():
        for item in value if isinstance(value, list | tuple) else [value]:
            if type(item) in (int, float):
                yield item


def _is_of_factors(given: Any) -> bool:
    return isinstance(given, Mapping) and bool(given.keys() & {*FACTORIZATIONS})


def _special_small(arrays: Arrays, compared: list[float]) -> Iterator[Arrays]:
    """Special elements of a call with few of them."""
    leaves = list(arrays)
    for one, other in pairwise(leaves):
        if arrays[one].shape == arrays[other].shape:
            yield {other: arrays[one].copy()}
    first = dict.fromkeys((0.0, *compared))
    yield from _singles(arrays, first)
    for one, other in pairwise(leaves):  # where a product, a quotient or a sum is compared
        for number in compared:
            for beside in (1.0, 0.0):
                for pair in ((number, beside), (beside, number)):
                    yield {
                        leaf: _placed(arrays[leaf], [0], n)
                        for leaf, n in zip((one, other), pair, strict=True)
                    }
    sides = [n + k * max(1.0, abs(n)) / 16 for n in compared for k in (1, -1)]
    others = dict.fromkeys((*sides, 1.0, -1.0, 1e3, -1e3))
    yield from _singles(arrays, (*(n for n in others if n not in first), -0.0))
    for leaf, array in arrays.items():
        if array.size > 1:
            element = array.flat[0]
            yield {leaf: _placed(array, [array.size - 1], element)}
            yield {leaf: np.full_like(array, element)}
            yield {leaf: _placed(array, [0, array.size - 1], 0.0)}
    for number in (0.0, 1.5):
        yield {leaf: np.full_like(array, number) for leaf, array in arrays.items()}
    for one, other in pairwise(leaves):
        if arrays[one].shape == arrays[other].shape:
            yield {other: np.asarray(-arrays[one])}
        yield {leaf: _placed(arrays[leaf], [0], 0.0) for leaf in (one, other)}
    for leaf, array in arrays.items():  # beyond the domain
        yield {leaf: np.asarray(-array)}


def _singles(arrays: Arrays, numbers: Iterable[float]) -> Iterator[Arrays]:
    """Each number in the first and the middle element of each tensor, and in all of them."""
    for number in numbers:
        for leaf, array in arrays.items():
            for place in dict.fromkeys((0, array.size // 2)):
                yield {leaf: _placed(array, [place], number)}
            if array.size > 1:
                yield {leaf: np.full_like(array, number)}


def infinite_points(values: Values) -> Iterator[Values]:
    """One element of each tensor infinite, and not a number.

    Most results are neither there, and nothing is asked. An op that replaces such an element does
    not change with it.
    """
    for name, value in values.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
            for number in (np.inf, -np.inf, np.nan):
                yield values | {name: _placed(value, [0], number)}


def _special_large(arrays: Arrays, compared: list[float]) -> Iterator[Arrays]:
    """The plainest special points, where there are many elements."""
    for leaf, array in arrays.items():
        for number in dict.fromkeys((0.0, *compared)):
            yield {leaf: _placed(array, [0], number)}
        yield {leaf: np.zeros_like(array)}
        if array.dtype.kind == "f" and array.size > 1:  # the largest, and the smallest, twice
            order = np.argsort(array, axis=None)
            for place, like in ((order[-2], order[-1]), (order[1], order[0])):
                yield {leaf: _placed(array, [int(place)], array.flat[like])}
    for one, other in pairwise(arrays):
        if arrays[one].shape == arrays[other].shape:
            yield {other: arrays[one].copy()}


def _placed(array: Array, places: list[int], number: Any) -> Array:
    changed = array.copy()
    changed.flat[places] = number
    return changed

"""Calls near those that the examples of an op make: other sizes, dimensions, flags and numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from ...spec.model import Example, OpSpec, Param

MOST_COMBINED = 4
"""So many dimensions are given lengths in all ways."""


def varied(spec: OpSpec, examples: tuple[Example, ...]) -> Iterator[Example]:
    """Each example with one thing changed; many of these are no calls of the op."""
    for example in examples:
        given = dict(example.args)
        for changed in _one_change(spec, given, examples):
            yield Example(tuple((given | changed).items()), example.span)


def _one_change(
    spec: OpSpec, given: dict[str, Any], examples: tuple[Example, ...]
) -> Iterator[dict[str, Any]]:
    shapes = {n: v for n, v in given.items() if is_shape(spec, n, v)}
    for resize in (lambda s: s + 1, lambda s: 2 * s, lambda s: 1):
        yield {name: [resize(size) for size in shape] for name, shape in shapes.items()}
    # Dimensions that happen to be as long as each other must not be taken for one.
    yield {
        name: [size + place for place, size in enumerate(shape)] for name, shape in shapes.items()
    }
    yield from _other_sizes(shapes)
    yield {name: [2, *shape] for name, shape in shapes.items()}
    yield {name: [*shape, 3] for name, shape in shapes.items()}
    for name, shape in shapes.items():
        yield {name: [1] * len(shape)}
        yield {name: shape[1:]}
        yield {name: [2, *shape]}
    for param in spec.signature.params:
        for value in _other_values(param, given.get(param.name, param.default), examples):
            yield {param.name: value}


def _other_sizes(shapes: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every dimension 2 or 3 long: among these are all that fit each other and are not square."""
    count = sum(map(len, shapes.values()))
    if not 0 < count <= MOST_COMBINED:
        return
    for sizes in itertools.product((2, 3), repeat=count):
        left = iter(sizes)
        yield {name: [next(left) for _ in shape] for name, shape in shapes.items()}


def is_shape(spec: OpSpec, name: str, value: Any) -> bool:
    """Return whether an example gives a tensor by its shape."""
    param = next(p for p in spec.signature.params if p.name == name)
    if not param.type.is_tensor or not isinstance(value, list):
        return False
    return all(isinstance(size, int) for size in value)


def _other_values(param: Param, value: Any, examples: tuple[Example, ...]) -> Iterator[Any]:
    """Yield other values for an argument."""
    if param.type.is_optional and value is not None:
        yield None
    match param.type.base, value:
        case "Tensor", _:
            return
        case "bool", bool():
            yield not value
        case "int" | "Scalar", int() if not isinstance(value, bool):
            yield from (value + 1, value - 1, -1, -2, 0, 1, 2)
        case "Scalar" | "float", float():
            yield from (2 * value, -value, 0.0, 0.5, 1.0)
        case "int", list() if None not in value:
            yield from ([size + 1 for size in value], [-1 - n for n in value], value[::-1])
            yield from ([0], [1], [-1], [0, 1], [1, 0])
        case "int", None:
            yield from ([0], [1], [-1], [0, 1])
        case "ScalarType", None:
            yield from ("float32", "float64")
    if param.type.base in ("str", "int", "Scalar", "float", "bool"):
        for example in examples:
            for name, other in example.args:
                if name == param.name and other != value:
                    yield other

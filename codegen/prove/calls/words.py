"""Other flags, numbers, texts and lists of a call, and optional tensors given or left out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...spec.model import NonDifferentiable, OpSpec, Param
from .data import Args
from .extents import LARGEST_EXTENT

MOST_FLAGS = 6
"""Number of flags that are combined in all ways."""

NO_WORD = "another"
"""A text that formulas do not mention: what is left when they have compared all that they do."""

_USUAL_WORDS = ("mean", "sum", "none", "lower", "higher", "nearest", "reflect", "replicate", "tanh")
"""Texts that ops of the table take, to which a formula may pass them on."""


def flags(spec: OpSpec, args: Args) -> Iterator[Args]:
    names = [p.name for p in spec.signature.params if p.type.base == "bool" and not p.type.is_list]
    ways = list(itertools.product((False, True), repeat=min(len(names), MOST_FLAGS)))
    for way in ways:
        yield dict(zip(names, way, strict=False))
    for name in names:
        yield {name: not args.get(name, False)}
    if len(names) > MOST_FLAGS:
        yield dict.fromkeys(names, True)


_UNLIKE = (2.5, -0.75, 3.0, 0.625, -2.0, 1.75)
"""Numbers for all arguments at once, none of them zero or one."""


def numbers_with_flags(spec: OpSpec, args: Args) -> Iterator[Args]:
    """Each number with each flag, and all of them at once: what is wrong may need several that
    are unusual."""
    params = [
        p
        for p in spec.signature.params
        if p.type.base in ("int", "float", "Scalar", "SymInt") and not p.type.is_list
    ]
    flags = [p for p in spec.signature.params if p.type.base == "bool" and not p.type.is_list]
    for param, flag in itertools.product(params, flags):
        is_given = args.get(flag.name, flag.default)
        yield from ({param.name: number, flag.name: not is_given} for number in (1, 2))
    if len(params) + len(flags) < 2 or not params:
        return
    for turn in range(3):
        numbers = {p.name: _UNLIKE[(k + turn) % len(_UNLIKE)] for k, p in enumerate(params)}
        whole = {p.name for p in params if p.type.base in ("int", "SymInt")}
        found = {name: int(abs(n)) + 1 if name in whole else n for name, n in numbers.items()}
        yield found
        if turn == 0:  # rates and widths may have to be positive
            yield {name: abs(number) for name, number in found.items()}
        yield from ({**found, **{p.name: flag for p in flags}} for flag in (True, False) if flags)


def words(
    spec: OpSpec, args: Args, given: list[Args], numbers: list[float], strings: list[str]
) -> Iterator[Args]:
    for param in spec.signature.params:
        value = args.get(param.name, param.default)
        if param.type.is_list and param.type.base in ("int", "float", "Scalar"):
            yield from ({param.name: other} for other in _other_lists(value, numbers))
        elif param.type.base == "ScalarType":
            yield from ({param.name: dtype} for dtype in ("float32", "float64"))
        elif param.type.base == "str":
            texts = dict.fromkeys((*strings, *_USUAL_WORDS, NO_WORD))
            yield from ({param.name: text} for text in texts)
        elif param.type.base in ("int", "float", "Scalar", "SymInt"):
            yield from ({param.name: n} for n in _other_numbers(param, value, numbers))
        if param.type.is_optional and param.type.base != "Tensor":
            yield {param.name: None}
        for other in given:
            if param.name in other and param.type.base != "Tensor":
                yield {param.name: other[param.name]}


def _other_numbers(param: Param, value: Any, numbers: list[float]) -> Iterator[Any]:
    usual: list[Any] = [0, 1, 2, -1, -2, 3]
    if isinstance(value, int | float) and not isinstance(value, bool):
        usual = [value + 1, value - 1, *usual]
    if param.type.base in ("int", "SymInt"):
        whole = [int(n) for n in numbers if abs(n) <= 1000 and float(n).is_integer()]
        yield from dict.fromkeys([*map(int, usual), *(n + k for n in whole for k in (0, 1, -1))])
    else:
        near = [n + k for n in numbers for k in ((0, 0.5, -0.5) if abs(n) < 1e6 else (0,))]
        cuts = sorted({0.0, 1.0, *(float(n) for n in numbers if np.isfinite(n))})
        between = [0.625 * low + 0.375 * high for low, high in itertools.pairwise(cuts)]
        yield from dict.fromkeys([*usual, 0.5, -0.75, 2.5, *between, *near])
        yield from (-0.0, float("inf"), float("-inf"))


def _other_lists(value: Any, numbers: list[float]) -> Iterator[Any]:
    if isinstance(value, list | tuple) and None not in value:
        if value:
            yield [*value, value[-1] + 1]
            yield list(value)[:-1]
        yield [size + 1 for size in value]
        yield [-1 - size for size in value]
        yield list(value)[::-1]
        whole = [int(n) for n in numbers if 0 <= n <= LARGEST_EXTENT and float(n).is_integer()]
        for place in range(len(value)):
            for number in dict.fromkeys((-1, 0, *(n + k for n in whole for k in (0, 1)))):
                yield [*value[:place], number, *value[place + 1 :]]
    yield from ([0], [1], [-1], [0, 1], [1, 0])


def optional_tensors(spec: OpSpec, args: Args, shapes: Args) -> Iterator[Args]:
    names = [p.name for p in spec.signature.params if p.type.is_tensor and p.type.is_optional]
    first: list[int] = next(iter(shapes.values()), [])
    for name in names:
        if args.get(name) is not None:
            yield {name: None}
            continue
        others = [list(shape) for shape in shapes.values()]
        for shape in (first, *others, first[-1:], first[1:2], []):
            yield {name: list(shape)}
        if isinstance(spec.rule(name), NonDifferentiable):
            for shape in (first, first[:1], first[-1:]):
                yield from ({name: data} for data in _masks_and_indices(shape))
    if len(names) > 1:
        yield dict.fromkeys(names)
        yield {name: list(first) for name in names}
        yield dict.fromkeys(names, first[1:2])


def _masks_and_indices(shape: list[int]) -> Iterator[Args]:
    """Data of a shape that is no float: every second element true, the numbers zero and one."""
    places = np.arange(math.prod(shape)).reshape(shape) % 2
    yield {"bool": (places == 0).tolist()}
    yield {"int": places.tolist()}

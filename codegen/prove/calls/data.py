"""Arrays of whole numbers and of flags, which examples give by their items: others like them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Args = dict[str, Any]

MOST_DATA = 1024
"""Number of arrays of whole numbers or flags that are tried."""


def kind_of_data(value: Any) -> str:
    """Return `int` or `bool` for an array that an example gives by such items, else nothing."""
    kind = next(iter(value)) if isinstance(value, Mapping) else ""
    return kind if kind in ("int", "bool") else ""


def other_data(args: Args) -> Iterator[Args]:
    """Other whole numbers and masks, in the range of those given, and counted from the end; other
    orders of numbers that an example gives."""
    for name, value in args.items():
        if kind := kind_of_data(value):
            for other in _other_items(kind, value[kind]):
                yield {name: {kind: other}}
        elif isinstance(value, Mapping) and isinstance(value.get("float"), list):
            flat = list(_leaves(value["float"]))
            for way in (flat[::-1], random.Random(0).sample(flat, len(flat))):
                yield {name: {"float": _filled(value["float"], iter(way))}}


def data_of_numbers(args: Args, numbers: list[float]) -> Iterator[Args]:
    """The numbers of the formulas, with their neighbours, in the place of whole numbers."""
    near = dict.fromkeys(int(n) + k for n in numbers if abs(n) <= 1e6 for k in (0, 1, -1))
    for name, value in args.items():
        if isinstance(value, Mapping) and (data := value.get("int")) is not None:
            flat = list(_leaves(data))
            for number in near if flat else ():
                for items in ([number] * len(flat), [number, *flat[1:]]):
                    yield {name: {"int": _filled(data, iter(items))}}


def all_data(args: Args) -> Iterator[Args]:
    """Every array of the whole numbers that an example gives, or of flags, if it is small."""
    for name, value in args.items():
        if kind := kind_of_data(value):
            flat = list(_leaves(value[kind]))
            known = [False, True] if kind == "bool" else sorted({*flat})
            if flat and len(known) ** len(flat) <= MOST_DATA:
                for items in itertools.product(known, repeat=len(flat)):
                    yield {name: {kind: _filled(value[kind], iter(items))}}


def _other_items(kind: str, data: Any) -> Iterator[Any]:
    flat = list(_leaves(data))
    if not flat:
        return
    rng = random.Random(0)
    if kind == "bool":
        ways = [[True] * len(flat), [False] * len(flat), [not item for item in flat], flat[::-1]]
        ways += [[number % 2 == 0 for number, _ in enumerate(flat)]]
        ways += [[rng.random() < 0.5 for _ in flat] for _ in range(2)]
    else:
        low, high = min(flat), max(flat)
        ways = [
            flat[::-1],
            [high] * len(flat),
            [low] * len(flat),
            *([rng.randint(low, high) for _ in flat] for _ in range(3)),
            sorted(flat),
            [-1 - item for item in flat],  # counted from the end, as indices
            [-1 - item if number % 2 else item for number, item in enumerate(flat)],
            [-1] * len(flat),
        ]
    for way in ways:
        yield _filled(data, iter(way))
    yield [data, data]
    if isinstance(data, list):
        yield [[item] for item in data]
        yield []


def shape_of(data: Any) -> list[int]:
    return [len(data), *shape_of(data[0])] if isinstance(data, list) and data else []


def reshaped(data: Any, shape: list[int]) -> Any:
    """The items over again in an array of a shape; as they are if there are none."""
    flat = list(_leaves(data))
    return _of_shape(shape, itertools.cycle(flat)) if flat else data


def resized(data: Any, way: Callable[[int], int], farther: int) -> Any:
    """The items over again in an array of other extents; the largest numbers are larger."""
    flat = list(_leaves(data))
    if not flat:
        return data
    shape = [way(size) for size in shape_of(data)]
    top = max(flat)
    items = (
        item + farther if type(item) is int and item == top else item
        for item in itertools.cycle(flat)
    )
    return _of_shape(shape, items)


def _of_shape(shape: list[int], items: Iterator[Any]) -> Any:
    return [_of_shape(shape[1:], items) for _ in range(shape[0])] if shape else next(items)


def _leaves(data: Any) -> Iterator[Any]:
    if isinstance(data, list):
        for item in data:
            yield from _leaves(item)
    else:
        yield data


def _filled(data: Any, items: Iterator[Any]) -> Any:
    return [_filled(item, items) for item in data] if isinstance(data, list) else next(items)

"""Calls that show a kernel at every small extent and whole number, beside its definition.

A kernel may go round its loop once for each bit of a number, or each block of a length. A fault of
one round shows at some numbers alone, which neither a condition nor a constant names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...spec.model import Example, OpSpec
from .extents import (
    MOST_ELEMENTS,
    count_elements,
    exchange,
    is_ints,
    lists_of,
    mapped,
    shapes_of,
)

Args = dict[str, Any]

SMALL = range(41)
"""Extents, each of which is tried; 41 holds a window of any of them."""

BEYOND = (47, 63, 64, 65, 96, 100, 127, 128, 129)
"""Larger ones: ends of blocks, and numbers that are none."""

NUMBERS = range(-2, 41)
"""Whole numbers that are tried for every argument that is one, or a list of them."""


def calls_of_every_size(spec: OpSpec, examples: tuple[Example, ...]) -> Iterator[Args]:
    """Calls of an op with a kernel like its examples, with every small extent and whole number."""
    if spec.kernel is None:
        return
    seen: set[str] = set()
    for example in examples:
        args = dict(example.args)
        if (kind := repr([*_whole_numbers(spec, args), *map(_ndim, args.values())])) in seen:
            continue
        seen.add(kind)
        for changed in (*_extents(spec, args), *_numbers(spec, args)):
            if count_elements(changed) <= MOST_ELEMENTS:
                yield changed


def _extents(spec: OpSpec, args: Args) -> Iterator[Args]:
    if spec.is_called_by_formulas and any(p.type.is_list for p in spec.signature.params):
        return  # a shape among them goes with the extents of tensors
    for size in sizes_of(spec, args):
        for extent in (*SMALL, *BEYOND):
            yield exchanged(spec, args, size, extent)


def _numbers(spec: OpSpec, args: Args) -> Iterator[Args]:
    """Every whole number, where the extents are long enough to tell one from the next."""
    long = args
    for size in sizes_of(spec, args):
        changed = exchanged(spec, long, size, max(SMALL) + 1)
        long = changed if count_elements(changed) <= MOST_ELEMENTS else long
    for name, value in _whole_numbers(spec, args).items():
        for number in NUMBERS:
            given = [number] * len(value) if isinstance(value, list) else number
            yield long | {name: given}
            yield args | {name: given}


def sizes_of(spec: OpSpec, args: Args) -> list[int]:
    """The extents of the tensors of a call that are given by their shapes."""
    shapes = [*shapes_of(spec, args).values()]
    shapes += [shape for several in lists_of(spec, args).values() for shape in several]
    return sorted({size for shape in shapes for size in shape})


def exchanged(spec: OpSpec, args: Args, size: int, other: int) -> Args:
    """The call with another extent in the place of one, wherever that is."""
    return args | mapped(shapes_of(spec, args), lists_of(spec, args), exchange(size, other))


def _whole_numbers(spec: OpSpec, args: Args) -> Args:
    """The arguments of a call that are whole numbers, and lists of these.

    None of an op that formulas call: theirs are the numbers that it is given.
    """
    if spec.is_called_by_formulas:
        return {}
    names = {p.name for p in spec.signature.params if p.type.base in ("int", "Scalar")}
    return {
        name: value
        for name, value in args.items()
        if name in names and (type(value) is int or (is_ints(value) and value))
    }


def _ndim(value: Any) -> int:
    return len(value) if is_ints(value) else -1

"""Calls that show a kernel at every small extent and whole number, and at long arrays.

A kernel may go round its loop once for each bit of a number, or each block of a length. A fault of
one round shows at some numbers alone, which neither a condition nor a constant names. A kernel of
one's own may also take thousands of elements at a time, and count them in bytes or in 16 bits: what
goes by blocks is wrong behind the last whole one. An extent is made long where neither the memory
nor the lines of Python of a call grow faster than the extent does.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from ...spec.model import Example, OpSpec
from .extents import (
    LARGEST_EXTENT,
    MOST_ELEMENTS,
    count_elements,
    exchange,
    is_ints,
    lists_of,
    mapped,
    shapes_of,
)
from .own_kernels import kernel_constants

Args = dict[str, Any]

SMALL = range(41)
"""Extents, each of which is tried; 41 holds a window of any of them."""

BEYOND = (47, 63, 64, 65, 96, 100, 127, 128, 129)
"""Larger ones: ends of blocks, and numbers that are none."""

NUMBERS = range(-2, 41)
"""Whole numbers that are tried for every argument that is one, or a list of them."""

LONG = (257, 1025, 4099, 33_000)
"""Extents that are tried: positions in bytes, or in 16 bits, wrap around before these, and blocks
of usual lengths end before them. Beside these there are those that the file mentions."""

LONGEST = 300_000
"""Larger numbers in the file are not tried as extents."""

ONCE, TWICE = 200, 400
"""Extents at which it is seen how a call grows."""

MOST_GROWTH = 2.5
"""The factor of what grows as the extent does; that of a square would be four."""

LITTLE = 200
"""Lines, or bytes, that any call takes."""

MOST_OF_ALL = 600_000
"""Elements of all long calls of an op together, the shortest first."""


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


def long_calls(
    spec: OpSpec, examples: tuple[Example, ...], make: Callable[[Args], None]
) -> Iterator[Args]:
    """Calls like the examples with one extent at a time much longer; `make` makes a call."""
    numbers = [int(n) for n in kernel_constants(spec)[0] if n == int(n)]
    known = [n for n in numbers if LARGEST_EXTENT < n <= LONGEST]
    extents = sorted({*LONG, *(e for n in known for e in (n, n + 3))})
    left = MOST_OF_ALL
    for args, size in _growing(spec, examples, make):
        for extent in extents:
            longer = exchanged(spec, args, size, extent)
            left -= count_elements(longer)
            if left < 0:
                return
            yield longer


def _growing(
    spec: OpSpec, examples: tuple[Example, ...], make: Callable[[Args], None]
) -> Iterator[tuple[Args, int]]:
    """The examples, with an extent of each that can be made long."""
    for example in examples:
        args = dict(example.args)
        for size in sizes_of(spec, args):
            once, twice = (exchanged(spec, args, size, extent) for extent in (ONCE, TWICE))
            grown = [count_elements(twice) / max(count_elements(once), 1)]
            if grown[0] > MOST_GROWTH:
                continue  # an extent of two dimensions
            before, after = _cost(make, once), _cost(make, twice)
            grown += [more / max(less, LITTLE) for less, more in zip(before, after, strict=True)]
            if max(grown) <= MOST_GROWTH:
                yield args, size


def _cost(make: Callable[[Args], None], args: Args) -> tuple[int, int]:
    """The lines of Python that a call runs, and the bytes that it takes at most."""
    lines = 0

    def count(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal lines
        lines += 1
        return count

    before = sys.gettrace()
    tracemalloc.start()
    sys.settrace(count)
    try:
        make(args)
        return lines, tracemalloc.get_traced_memory()[1]
    finally:
        sys.settrace(before)
        tracemalloc.stop()


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

"""Long arrays for a kernel of one's own: what goes by blocks is wrong behind the last whole one.

The usual calls are small. A kernel may take thousands of elements at a time, and count them in
bytes or in 16 bits. An extent is made long where neither the memory nor the lines of Python of a
call grow faster than the extent does.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from ...spec.model import Example, OpSpec
from .every_size import exchanged, sizes_of
from .extents import LARGEST_EXTENT, count_elements
from .own_kernels import kernel_constants

Args = dict[str, Any]

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

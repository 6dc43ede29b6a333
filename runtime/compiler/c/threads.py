"""Pieces of nests and calls that threads share, and why there are not more."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from math import prod
from typing import Final

from .groups import FULL, ROW, Placed
from .layout import Dims
from .operations import Call

PAYS_FROM: Final = 2_000_000
"""Operations on elements, of which a call of a function is ten, from which threads share a nest."""
BLOCK_LENGTH: Final = 1024
"""Numbers that are added up before their sum is added to others, for the sake of rounding."""
BLOCKS_MAX: Final = 1 << 15
"""Blocks whose sums threads may put on the stack."""
SHARED_PRODUCT: Final = 4e6
"""Multiplications of a product, or of a triangular system, from which threads share it."""
PRODUCT_MAX, FACTOR_MAX = 5e7, 3e7
"""Multiplications of a product, and of a Cholesky factor, from which BLAS has its own threads."""
FEW_CORES: Final = 2
PART_COLUMNS: Final = (256, 128)
"""Columns of a shared product from which they are two parts: on few cores, and on more.

Two parts of 256 columns take 0.85 to 0.97 of the time of four of 128.
"""


class Alone(Enum):
    """Reasons for which one thread runs all of a nest, or of a call."""

    SMALL = "{0:,} operations, of {1:,} from which threads pay"
    SUM = "rows add to the same elements of {0}"
    FEW = "the outermost loop has {0:,} rows, too few for two threads"
    PHASES = "one row only, of whose loops one needs all of another"
    LOOPS = "one row only, which is a loop in a loop"
    LONG = "a sum of {0:,} numbers, more than the sums of blocks have room for"
    KIND = "{0} is no sum that can be added up by blocks"
    SHORT = "{0:,} multiplications, of {1:,} from which threads pay"
    COLUMNS = "a product of {0:,} columns or rows, too few for two parts"
    STEP = "loops of C for one step, which are not shared"


@dataclass(frozen=True)
class Solitude:
    """A reason, and the numbers or the name in it."""

    why: Alone
    about: tuple[int | str, ...] = ()

    def __str__(self) -> str:
        return self.why.value.format(*self.about)


@dataclass(frozen=True)
class Share:
    """The outermost loop of a nest: threads take pieces of it that are multiples of `step`."""

    length: int
    step: int

    @property
    def pieces(self) -> int:
        """The number of pieces, which no more threads can take."""
        return -(-self.length // self.step)


@dataclass(frozen=True)
class Loops:
    """The loops of a nest, as far as threads are concerned."""

    placed: Sequence[Placed]
    rows: Dims
    inner: Dims
    step: int
    """Rounds of the outermost loop that stay together: rows of a tile, numbers of a block."""
    is_apart: Callable[[Placed], bool]
    """Tells whether rounds of the outermost loop add to different elements of a result."""
    is_blocked: Callable[[Placed], bool]
    """Tells whether a result is a sum that is added up by blocks."""

    @property
    def operations(self) -> int:
        """Operations on elements, as `PAYS_FROM` counts them."""
        weight = sum(1 + 10 * placed.calls for placed in self.placed)
        return prod((*self.rows, *self.inner)) * weight if self.rows or self.inner else 0


def shared(loops: Loops) -> Share | Solitude:
    """Return how threads share a nest whose parts know nothing of another, if it is large."""
    if loops.operations < PAYS_FROM:
        return Solitude(Alone.SMALL, (loops.operations, PAYS_FROM))
    return _by_rows(loops) if loops.rows else _by_blocks(loops)


def _by_rows(loops: Loops) -> Share | Solitude:
    for placed in loops.placed:
        if placed.level not in (FULL, ROW) and not loops.is_apart(placed):
            return Solitude(Alone.SUM, (placed.operation.out.name,))
    if loops.rows[0] < 2 * loops.step:
        return Solitude(Alone.FEW, (loops.rows[0],))
    return Share(loops.rows[0], loops.step)


def _by_blocks(loops: Loops) -> Share | Solitude:
    """Share the only loop, of which only sums of blocks are needed."""
    for placed in loops.placed:
        if placed.level not in (FULL, ROW):
            return Solitude(Alone.SUM, (placed.operation.out.name,))
        if placed.is_row_map:
            if placed.phase < 0:
                return Solitude(Alone.PHASES)
            continue
        if placed.phase:
            return Solitude(Alone.PHASES)
        if len(loops.inner) != 1:
            return Solitude(Alone.LOOPS)
        if placed.level == ROW and not loops.is_blocked(placed):
            return Solitude(Alone.KIND, (placed.operation.out.name,))
        if placed.level == ROW and loops.inner[0] > BLOCKS_MAX * BLOCK_LENGTH:
            return Solitude(Alone.LONG, (loops.inner[0],))
    return Share(loops.inner[0], BLOCK_LENGTH)


# ---- calls


def part_columns() -> int:
    """Return how many columns of a shared product are two parts."""
    return PART_COLUMNS[(os.cpu_count() or 1) > FEW_CORES]


def block_of(columns: int) -> int:
    """Return the columns of a product that a thread takes at a time, as `gs_block` does in C."""
    pairs = columns // (2 * part_columns())
    parts = 2 if pairs < 1 else min(2 * pairs, 16)
    return (-(-columns // parts) + 15) // 16 * 16


def shared_call(call: Call) -> Share | Solitude:
    """Return how threads of a program share a call, where BLAS has none of its own."""
    if call.is_shared:
        return Share(call.rounds, 1)
    if not call.product:
        return Solitude(Alone.STEP)
    least = FACTOR_MAX if call.is_factor else SHARED_PRODUCT
    if call.product < least:
        return Solitude(Alone.SHORT, (round(call.product), round(least)))
    block = block_of(call.columns)
    if block >= call.columns:
        return Solitude(Alone.COLUMNS, (call.columns,))
    return Share(call.columns, block)

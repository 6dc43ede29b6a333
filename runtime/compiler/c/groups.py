"""Grouping of operations into loop nests.

A nest runs over the points of its dimensions, in order. Its outer part are the rows, its inner part
what a reduction makes one element of; so a softmax is, for each row, a loop that finds the maximum,
one that sums exponentials, one that divides. These loops are the phases of the nest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from math import prod
from typing import Final, NamedTuple

from ..program import Value
from .layout import Access, Dims, refine, spread
from .operations import Call, LoopCall, Map, Operand, Operation, PythonCall, Reduce

FULL: Final = "full"
"""Computed at each point."""
ROW: Final = "row"
"""Computed once for each row, after a loop over it."""
COLUMN: Final = "column"
"""Added up in memory, point by point."""
BLOCK: Final = "block"
"""Added up in memory, row by row."""

WINDOWS: Final = 4
"""Least ratio of the elements of a convolution's windows to those that they are read from."""
MAX_OPERATIONS: Final = 600
"""In one nest: a compiler needs more than linear time."""


class Why(Enum):
    """Reasons for which an operation is not put into a part.

    `{0}` is the value in the way, `{1}` the number of the first part that it could be put into.
    """

    POINTS = "other points"
    ROWS = "rows of another length"
    WHOLE = "needs all of {0}, which is complete after the last row only"
    ELSEWHERE = "reads {0} at other points than those at which it is made"
    PIECES = "reads {0}, of which pieces are made there"
    AGAIN = "{0} is written there already"
    ORDER = "overwrites {0}, which is read there at other points, or later"
    LARGE = "there are as many operations as a compiler takes in reasonable time"
    CALL = "a call, which nothing joins"
    READS = "reads {0}, which {1} makes"
    OVERWRITES = "overwrites {0}, after what makes or reads it before"
    LAID_OUT = "lays out {0}, next to where it is read"


class Refusal(NamedTuple):
    """A reason for which an operation is not put into a part, and the value in the way."""

    why: Why
    value: Value | None = None


_POINTS: Final = Refusal(Why.POINTS)
_ROWS: Final = Refusal(Why.ROWS)
_LARGE: Final = Refusal(Why.LARGE)
_CALL: Final = Refusal(Why.CALL)


@dataclass
class Placed:
    """An operation in a nest."""

    operation: Map | Reduce
    level: str
    phase: int

    @property
    def is_row_map(self) -> bool:
        """Return whether it is computed for each row, and is no sum over it."""
        return self.level == ROW and isinstance(self.operation, Map)

    @property
    def operands(self) -> list[Operand]:
        """Return the values that the operation reads."""
        operation = self.operation
        return operation.operands if isinstance(operation, Map) else [operation.operand]

    @property
    def accesses(self) -> list[Access]:
        """The memory that it reads, and that of the result."""
        reads = [operand.access for operand in self.operands if operand.access]
        return [*reads, self.operation.target]

    @property
    def calls(self) -> int:
        """Count the functions that it calls for each point."""
        return self.operation.formula.count("gs_") if isinstance(self.operation, Map) else 0


@dataclass
class Nest:
    """Operations that share loops."""

    dims: Dims
    inner: int | None = None
    """The points of a row, if anything is computed for each row."""
    placed: list[Placed] = field(default_factory=list)
    makers: dict[Value, Placed] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Count the dimensions that are those of rows."""
        if self.inner is None:
            return len(self.dims)
        count = len(self.dims)
        while prod(self.dims[count:]) < self.inner:
            count -= 1
        return count

    def add(self, operation: Map | Reduce) -> Refusal | None:
        """Take in an operation if it fits; else return why it does not."""
        if len(self.placed) >= MAX_OPERATIONS:
            return _LARGE
        if isinstance(operation, Reduce):
            return self._add_reduction(operation)
        refusal = self._add_full(operation)
        if refusal is None or self.inner is None:
            return refusal
        other = self._add_row(operation)
        return other and (other if refusal is _POINTS else refusal)

    def _take(self, operation: Map | Reduce, level: str, phase: int, dims: Dims) -> None:
        self.dims = dims
        placed = Placed(operation, level, phase)
        self.placed.append(placed)
        self.makers[operation.out] = placed

    def _add_full(self, operation: Map) -> Refusal | None:
        dims = refine(self.dims, operation.dims)
        if dims is None:
            return _POINTS
        if not self._may_write(operation):
            return Refusal(Why.AGAIN, operation.out)
        phase = self._phase(operation.operands, operation.dims, dims)
        if isinstance(phase, Refusal):
            return phase
        if not self._reads_before(operation, dims, phase):
            return Refusal(Why.ORDER, operation.out)
        self._take(operation, FULL, phase, dims)
        return None

    def _may_write(self, operation: Map) -> bool:
        maker = self.makers.get(operation.out)
        if maker is None:
            return True
        return is_partial(maker.operation) and maker.operation.step is operation.step

    def _reads_before(self, operation: Map, dims: Dims, phase: int) -> bool:
        """Return whether what is overwritten, an input, is read at the same point or not at all."""
        target = operation.target
        here = spread(operation.dims, target.strides, dims)
        for placed in self.placed:
            other = placed.operation
            for read in (each.access for each in placed.operands):
                if read is None or read.root is not target.root or target.root in self.makers:
                    continue
                if placed.is_row_map or placed.phase > phase:
                    return False
                if read.offset != target.offset or spread(other.dims, read.strides, dims) != here:
                    return False
        return True

    def _phase(self, operands: Iterable[Operand], own: Dims, dims: Dims) -> int | Refusal:
        """Return the first phase in which operands are known at each point, or which never is."""
        phase = 0
        for operand in operands:
            read = operand.access
            maker = None if read is None else self.makers.get(read.root)
            if read is None or maker is None:
                continue
            made = maker.operation
            strides = spread(own, read.strides, dims)
            if maker.level == FULL:
                here = spread(made.dims, made.target.strides, dims)
                if is_partial(made):
                    return Refusal(Why.PIECES, read.root)
                if read.offset or strides != here:
                    return Refusal(Why.ELSEWHERE, read.root)
                phase = max(phase, maker.phase)
            elif maker.level == ROW:
                if read.offset or strides != self._row_strides(made, dims):
                    return Refusal(Why.ELSEWHERE, read.root)
                phase = max(phase, maker.phase + 1)
            else:
                return Refusal(Why.WHOLE, read.root)
        return phase

    def _row_strides(self, made: Map | Reduce, dims: Dims) -> Dims:
        if isinstance(made, Reduce):
            return spread(made.dims, made.target.strides, dims)
        rows = self._rows_of(dims)
        here = spread(made.dims, made.target.strides, rows)
        return here + (0,) * (len(dims) - len(rows))

    def _rows_of(self, dims: Dims) -> Dims:
        count = len(dims)
        while prod(dims[count:]) < (self.inner or 1):
            count -= 1
        return dims[:count]

    def _add_row(self, operation: Map) -> Refusal | None:
        if operation.out in self.makers:
            return Refusal(Why.AGAIN, operation.out)
        count = self.rows
        finer = refine(self.dims[:count], operation.dims)
        if finer is None:
            return _POINTS
        dims = finer + self.dims[count:]
        phase = -1
        for operand in operation.operands:
            read = operand.access
            maker = None if read is None else self.makers.get(read.root)
            if read is None or maker is None:
                continue
            if maker.level in (COLUMN, BLOCK):
                return Refusal(Why.WHOLE, read.root)
            if is_partial(maker.operation):
                return Refusal(Why.PIECES, read.root)
            if maker.level != ROW or read.offset:
                return Refusal(Why.ELSEWHERE, read.root)
            here = self._row_strides(maker.operation, dims)[: len(finer)]
            if spread(operation.dims, read.strides, finer) != here:
                return Refusal(Why.ELSEWHERE, read.root)
            phase = max(phase, maker.phase)
        self._take(operation, ROW, phase, dims)
        return None

    def _add_reduction(self, operation: Reduce) -> Refusal | None:
        dims = refine(self.dims, operation.dims)
        if dims is None:
            return _POINTS
        if operation.out in self.makers:
            return Refusal(Why.AGAIN, operation.out)
        inner = 1
        for length, gone in zip(reversed(operation.dims), reversed(operation.reduced), strict=True):
            if not gone:
                break
            inner *= length
        if inner > 1 and self.inner not in (None, inner):
            return _ROWS
        phase = self._phase([operation.operand], operation.dims, dims)
        if isinstance(phase, Refusal):
            return phase
        if inner == 1:
            self._take(operation, COLUMN, phase, dims)
            return None
        self.inner = inner
        whole = inner == prod(
            length for length, gone in zip(operation.dims, operation.reduced, strict=True) if gone
        )
        self._take(operation, ROW if whole else BLOCK, phase, dims)
        return None


def is_partial(operation: Map | Reduce) -> bool:
    """Return whether an operation makes a region of its result only."""
    return isinstance(operation, Map) and operation.is_region


class Opening(NamedTuple):
    """Reasons for which a part was begun: what kept its first operation from those before it."""

    first: int
    """The first part into which it could have been put at all."""
    waits: Refusal | None
    """The reason for which it comes after the parts before `first`."""
    refusals: list[Refusal]
    """Reasons for which it was not put into the others, in order."""


@dataclass
class Schedule:
    """Nests and calls in the order in which they run."""

    parts: list[Nest | Call | LoopCall | PythonCall] = field(default_factory=list)
    openings: list[Opening | None] = field(default_factory=list)
    """For each part the reasons for which it is one; None for calls, which are parts by nature."""
    ready: dict[Value, int] = field(default_factory=dict)
    """The last part that makes a value, or some of it."""
    read_by: dict[Value, int] = field(default_factory=dict)
    """The last part that reads a value."""
    last_maker: dict[Value, Operation] = field(default_factory=dict)

    def add(self, operation: Operation) -> None:
        """Put an operation into the first nest that it fits in, or into one of its own."""
        nr = self._place(operation)
        for out in operation.outs:
            self.ready[out] = max(nr, self.ready.get(out, 0))
            self.last_maker[out] = operation
        for read in operation.reads:
            self.read_by[read] = max(nr, self.read_by.get(read, 0))

    def _place(self, operation: Operation) -> int:
        if not isinstance(operation, Map | Reduce):
            assert isinstance(operation, Call | LoopCall | PythonCall)
            return self._open(operation, None)
        first, waits = self._first(operation)
        refusals = []
        for nr in range(first, len(self.parts)):
            part = self.parts[nr]
            refusal = part.add(operation) if isinstance(part, Nest) else _CALL
            if refusal is None:
                return nr
            refusals.append(refusal)
        nest = Nest(operation.dims)
        refusal = nest.add(operation)
        assert refusal is None
        return self._open(nest, Opening(first, waits, refusals))

    def _open(self, part: Nest | Call | LoopCall | PythonCall, opening: Opening | None) -> int:
        self.parts.append(part)
        self.openings.append(opening)
        return len(self.parts) - 1

    def _first(self, operation: Map | Reduce) -> tuple[int, Refusal | None]:
        """Return the first part in which the operands are there and the result may be written."""
        first, waits = 0, None
        for read in operation.reads:
            made = self.ready.get(read, 0)
            if made > first:
                first, waits = made, Refusal(Why.READS, read)
        out = operation.out
        maker = self.last_maker.get(out)
        free = 0
        if maker is None:  # an input that is written to is read before
            free = self.read_by.get(out, 0)
        elif not (isinstance(maker, Map) and is_partial(maker) and maker.step is operation.step):
            free = self.ready[out] + 1
        if free > first:
            first, waits = free, Refusal(Why.OVERWRITES, out)
        if _is_laid_out(operation) and len(self.parts) - 1 > first:
            # where it is read, so that it does not live for long
            first, waits = len(self.parts) - 1, Refusal(Why.LAID_OUT, out)
        return first, waits


def _is_laid_out(operation: Map | Reduce) -> bool:
    """Return whether an operation lays out elements many times, as the windows of a convolution."""
    if not isinstance(operation, Map) or operation.formula != "{0}":
        return False
    read = operation.operands[0].access
    return read is not None and operation.out.size >= WINDOWS * read.root.size


def scheduled(operations: Iterable[Operation]) -> Schedule:
    """Return operations as parts, in order."""
    found = Schedule()
    for operation in operations:
        found.add(operation)
    return found


def access_in(nest: Nest, placed: Placed, access: Access) -> Dims:
    """Return the strides of an access on the dimensions of its nest."""
    operation = placed.operation
    if placed.is_row_map:
        rows = nest.dims[: nest.rows]
        return spread(operation.dims, access.strides, rows) + (0,) * (len(nest.dims) - len(rows))
    return spread(operation.dims, access.strides, nest.dims)

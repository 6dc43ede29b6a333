"""Storage of each value: a slot, the arena, the stack, or none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Final

from ..program import Value
from .groups import FULL, ROW, Nest, Schedule
from .layout import extent, root_of
from .operations import Map, PythonCall

LOCAL_MAX: Final = 4096
"""Bytes up to which a value may lie on the stack."""
ROW_MAX: Final = 1 << 15
"""Bytes up to which values between phases of a row are on the stack."""
ALIGNMENT: Final = 64
ARENA: Final = 0
"""The slot of the arena."""


@dataclass
class Memory:
    """The storage of a program's values."""

    slots: dict[Value, int] = field(default_factory=dict)
    """Slots of inputs, constants, outputs, and results of Python calls."""
    fresh: list[Value] = field(default_factory=list)
    """Values that are allocated at each call, as they are outputs."""
    arena: dict[Value, int] = field(default_factory=dict)
    """Bytes from the start of the arena to the first element."""
    arena_size: int = 0
    locals: dict[Value, int] = field(default_factory=dict)
    """Values on the stack of the function of that number."""
    rows: dict[Value, int] = field(default_factory=dict)
    """Values that lie in memory for one row at a time, and the elements of that."""
    uses: dict[Value, list[int]] = field(default_factory=dict)
    """For each value that is made or read, the parts that do, in order; outputs end after all."""
    pieces: set[Value] = field(default_factory=set)
    """Values of which some operation reads or writes a part."""

    def is_stored(self, value: Value) -> bool:
        """Return whether a value is in memory as a whole."""
        return value in self.slots or value in self.arena or value in self.locals


def register_reads(nest: Nest) -> Iterator[tuple[Value, bool]]:
    """Find the values of a nest that it reads itself, and whether from a variable."""
    for placed in nest.placed:
        operation = placed.operation
        for read in operation.reads:
            maker = nest.makers.get(read)
            if maker is None:
                continue
            yield read, maker.level == ROW or maker.phase == placed.phase


def planned(
    held: Sequence[Value], schedule: Schedule, outputs: Iterable[Value], functions: list[int]
) -> Memory:
    """Return where the values lie.

    `held` are the inputs and constants; `functions` has the C function of each part, -1 for Python.
    """
    memory = Memory()
    uses = memory.uses = _uses(schedule, [*map(root_of, outputs)])
    for value in held:
        memory.slots[value] = len(memory.slots) + 1
    for part in schedule.parts:
        if isinstance(part, PythonCall):
            for out in part.outputs:
                memory.slots[root_of(out)] = len(memory.slots) + 1
    for value in dict.fromkeys(map(root_of, outputs)):
        if value not in memory.slots:
            memory.slots[value] = len(memory.slots) + 1
            memory.fresh.append(value)
    lifetimes = []
    passed: dict[int, set[Value]] = {}
    for value, parts in uses.items():
        if value in memory.slots:
            continue
        nest = schedule.parts[parts[0]]
        if len(parts) == 1 and isinstance(nest, Nest) and not _is_in_memory(nest, value):
            if parts[0] not in passed:  # what loops of a row hand on in memory
                passed[parts[0]] = {read for read, kept in register_reads(nest) if not kept}
            if value in passed[parts[0]]:
                memory.rows[value] = prod(nest.dims[nest.rows :])
            continue
        _, size = extent(value)
        first = functions[parts[0]]
        if size <= LOCAL_MAX and all(functions[part] == first for part in parts):
            memory.locals[value] = first
        else:
            lifetimes.append((value, parts[0], parts[-1]))
    memory.pieces = set(_pieces(schedule))
    for value in memory.rows:
        if memory.rows[value] * value.dtype.itemsize > ROW_MAX:
            lifetimes.append((value, uses[value][0], uses[value][0]))
    for value, _, _ in lifetimes:
        memory.rows.pop(value, None)
    _allocate(memory, lifetimes)
    return memory


def _pieces(schedule: Schedule) -> Iterator[Value]:
    """Find the values of which an operation reads or writes a part."""
    for part in schedule.parts:
        for placed in part.placed if isinstance(part, Nest) else ():
            operation = placed.operation
            if not isinstance(operation, Map):
                continue
            if operation.is_region:
                yield operation.out
            points = prod(operation.dims)
            yield from (read for read in operation.reads if read.size > points)


def _uses(schedule: Schedule, outputs: list[Value]) -> dict[Value, list[int]]:
    """For each value that is made, the parts that make or read it, in order."""
    uses: dict[Value, list[int]] = {}
    for nr, part in enumerate(schedule.parts):
        operations = [each.operation for each in part.placed] if isinstance(part, Nest) else [part]
        for operation in operations:
            for value in (*operation.outs, *operation.reads):
                known = uses.setdefault(value, [])
                if not known or known[-1] != nr:
                    known.append(nr)
    for value in outputs:
        uses.setdefault(value, []).append(len(schedule.parts))
    return uses


def _is_in_memory(nest: Nest, value: Value) -> bool:
    """Return whether a value of one nest has to lie in memory as a whole."""
    maker = nest.makers[value]
    return maker.level not in (FULL, ROW) or (
        isinstance(maker.operation, Map) and maker.operation.is_region
    )


def _allocate(memory: Memory, lifetimes: list[tuple[Value, int, int]]) -> None:
    """Give each value a place that no other has while it lives: the lowest that is free."""
    taken: list[tuple[int, int, int, int]] = []
    for value, first, last in sorted(lifetimes, key=lambda each: -extent(each[0])[1]):
        before, size = extent(value)
        size = aligned(size)
        at = 0
        for start, end, since, until in sorted(taken):
            if since <= last and first <= until and start < at + size and at < end:
                at = end
        taken.append((at, at + size, first, last))
        memory.arena[value] = at + before
        memory.arena_size = max(memory.arena_size, at + size)


def aligned(size: int) -> int:
    """Return the bytes that are set aside for a size."""
    return -(-size // ALIGNMENT) * ALIGNMENT

"""Programs, and the bodies of their loops, as parts in order, with a place for each value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..program import Loop, Program, Step, Value, rooted
from .destinations import made_in_place
from .groups import Nest, Schedule, scheduled
from .layout import extent, root_of
from .lower import Lowering, UnsupportedError
from .memory import Memory, aligned, planned
from .operations import Call, LoopCall, Operation, PythonCall
from .threads import FACTOR_MAX, PRODUCT_MAX

FUNCTION_MAX: Final = 200
"""Operations in one C function: a compiler needs more than linear time."""

ASSUMED_ROUNDS: Final = 100
"""Rounds that a loop is assumed to have if their number is unknown."""


@dataclass
class Unit:
    """A program that is lowered: its parts, and where its values lie."""

    schedule: Schedule
    numbers: list[int]
    """The C function of each part; -1 for Python calls."""
    memory: Memory
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    constants: dict[Value, Any]

    @property
    def work(self) -> float:
        """About how many elements are computed."""
        work = 0.0
        for part in self.schedule.parts:
            if isinstance(part, Nest):
                points = 1
                for length in part.dims:
                    points *= length
                work += points * len(part.placed)
            elif isinstance(part, LoopCall):
                work += (part.loop.length or ASSUMED_ROUNDS) * part.unit.work
            elif isinstance(part, Call):
                work += part.work
        return work

    @property
    def largest_product(self) -> float:
        """Multiplications of the largest call of BLAS; 0 without any."""
        return max([0.0, *(call.product for call in self.calls)])

    @property
    def largest_factor(self) -> float:
        """Multiplications of the largest call of LAPACK; 0 without any."""
        return max([0.0, *(call.product for call in self.calls if call.is_factor)])

    @property
    def shares_products(self) -> bool:
        """Return whether threads of the program share products; else BLAS has its own."""
        return self.largest_product < PRODUCT_MAX and self.largest_factor < FACTOR_MAX

    @property
    def calls(self) -> Iterator[Call]:
        """The calls, also in loops."""
        for part in self.schedule.parts:
            if isinstance(part, LoopCall):
                yield from part.unit.calls
            elif isinstance(part, Call):
                yield part


def unit_of(program: Program) -> Unit:
    """Lower a program, in which every base is an input, a constant, or made by a step."""
    lowering = Lowering(program, _lowered_loop)
    constants = dict([*program.constants, *lowering.constants])
    held = list(dict.fromkeys([*program.inputs, *constants]))
    outputs = {root_of(value) for value in lowering.outputs}
    schedule = scheduled(made_in_place(lowering.operations, {*held}, outputs))
    numbers = _function_numbers(schedule)
    memory = planned(held, schedule, lowering.outputs, numbers)
    return Unit(schedule, numbers, memory, program.inputs, lowering.outputs, constants)


def _lowered_loop(step: Step) -> tuple[LoopCall, dict[Value, Any]] | None:
    """Return a loop in C, and the constants that it reads; None if its body has none."""
    loop, states, rows, others = step.args
    assert isinstance(loop, Loop)
    try:
        unit = unit_of(rooted(loop.body))
    except UnsupportedError:
        return None
    operations = [each for part in unit.schedule.parts for each in _operations(part)]
    if any(isinstance(each, PythonCall) for each in operations):
        return None
    read = {value for each in operations for value in each.reads}
    constants = {value: array for value, array in unit.constants.items() if value in read}
    spares: list[int] = []
    size = aligned(unit.memory.arena_size)
    for value in unit.outputs[: loop.states]:
        spares.append(size)
        size += aligned(extent(value)[1])
    name = f"{step.outputs[0].name}_work"
    room = Value(name, (max(size, 1),), np.dtype(np.uint8), (1,))
    inputs = (*states, *rows, *others, *constants)
    return LoopCall(
        step, step.outputs[0], loop, unit, inputs, step.outputs, room, spares
    ), constants


def _operations(part: Nest | Operation) -> list[Operation]:
    return [each.operation for each in part.placed] if isinstance(part, Nest) else [part]


def _function_numbers(schedule: Schedule) -> list[int]:
    """Return the number of the C function that each part is put into; -1 for Python calls."""
    numbers: list[int] = []
    number, count, is_open = 0, 0, False
    for part in schedule.parts:
        if isinstance(part, PythonCall):
            numbers.append(-1)
            number, count = number + is_open, 0
            is_open = False
            continue
        size = size_of(part)
        if is_open and count + size > FUNCTION_MAX:
            number, count = number + 1, 0
        count += size
        is_open = True
        numbers.append(number)
    return numbers


def size_of(part: Nest | Operation) -> int:
    """Return how many operations a part has."""
    return len(part.placed) if isinstance(part, Nest) else 1

"""Reuse of memory: a step writes into a buffer that nothing reads any more, if one fits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from .partition import root_of
from .program import Program, Step, Value
from .steps import function_of

Form: TypeAlias = tuple[tuple[int, ...], np.dtype[Any], tuple[int, ...]]


@dataclass
class Plan:
    """For each step, by its position: where it writes, and what is let go of after it."""

    into: dict[int, Value] = field(default_factory=dict)
    """The value whose memory the only output of the step takes over."""
    released: dict[int, list[Value]] = field(default_factory=dict)
    """Values that nothing reads after the step, and whose memory no other takes over."""


def plan(program: Program) -> Plan:
    """Plan the memory of a program that runs its steps in order."""
    last = last_reads(program)
    kept = {root_of(value) for value in program.outputs}
    kept |= {root_of(value) for _, value in program.writes}
    made: set[Value] = set()
    dying: dict[int, list[Value]] = {}
    for value, nr in last.items():
        dying.setdefault(nr, []).append(value)
    wanted = Counter(_form(step.outputs[0]) for step in program.steps if takes_out(step))
    free: dict[Form, list[Value]] = {}
    found = Plan()
    for nr, step in enumerate(program.steps):
        dead = [v for v in dying.get(nr, ()) if v in made and v not in kept]
        if takes_out(step):
            form = _form(step.outputs[0])
            wanted[form] -= 1
            source = _operand(step, dead, form) or _popped(free, form)
            if source is not None:
                found.into[nr] = source
                dead = [value for value in dead if value is not source]
        for value in step.outputs:
            if value.base is None and owns_memory(step):
                made.add(value)
        found.released[nr] = []
        for value in dead:
            if wanted[_form(value)] > 0:
                free.setdefault(_form(value), []).append(value)
            else:
                found.released[nr].append(value)
    return found


def last_reads(program: Program) -> dict[Value, int]:
    """For each value that owns memory, the last step that reads it or a view of it."""
    last: dict[Value, int] = {}
    for nr, step in enumerate(program.steps):
        for value in (*step.outputs, *step.inputs):
            last[root_of(value)] = nr
    return last


def takes_out(step: Step) -> bool:
    """Return whether the step can be told where to write."""
    if step.is_tuple or len(step.outputs) != 1 or not step.outputs[0].shape or step.kwargs:
        return False
    if not step.function.startswith("np.") or not step.outputs[0].size:
        return False
    return step.function == "np.dot" or isinstance(function_of(step.function), np.ufunc)


def owns_memory(step: Step) -> bool:
    """Return whether what the step returns is certainly new, and no one else's."""
    return takes_out(step) or step.function.startswith(("np.add.", "array.copy", "array.astype"))


def _operand(step: Step, dead: list[Value], form: Form) -> Value | None:
    """Return an argument that the step may overwrite, element by element."""
    if step.function in ("np.dot", "np.matmul"):
        return None
    roots = Counter(root_of(value) for value in step.inputs)
    direct = Counter(value for value in step.inputs if value.base is None)
    for value in dead:
        if direct[value] and direct[value] == roots[value] and _form(value) == form:
            return value
    return None


def _popped(free: dict[Form, list[Value]], form: Form) -> Value | None:
    candidates = free.get(form)
    return candidates.pop() if candidates else None


def _form(value: Value) -> Form:
    return value.shape, value.dtype, value.strides

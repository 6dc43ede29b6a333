"""Views whose base a pass has taken out of the program: the first of them owns the memory."""

from __future__ import annotations

from dataclasses import replace

from ..program import Program, Step, Value, rewrite


def rooted(program: Program) -> Program:
    """Return a program in which every base is an input, a constant, or made by a step."""
    made = [value for step in program.steps for value in step.outputs]
    values = [*program.inputs, *(value for value, _ in program.constants), *made]
    known = {value for value in values if value.base is None}
    owners: dict[Value, Value] = {}
    new: dict[Value, Value] = {}
    for value in values:
        base = value.base
        if base is None or base in known:
            continue
        if base not in owners:
            owners[base] = value
            new[value] = replace(value, base=None, offset=0)
        else:
            first = owners[base]
            new[value] = replace(value, base=new[first], offset=value.offset - first.offset)
    if not new:
        return program
    steps = tuple(
        Step(
            step.function,
            rewrite(step.args, new),
            rewrite(dict(step.kwargs), new),
            rewrite(step.outputs, new),
            step.is_tuple,
            step.place,
        )
        for step in program.steps
    )
    return Program(
        rewrite(program.inputs, new),
        tuple((new.get(value, value), array) for value, array in program.constants),
        steps,
        rewrite(program.outputs, new),
        rewrite(program.writes, new),
    )

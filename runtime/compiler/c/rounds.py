"""A loop of a program in C: a `for` around calls of the function of its body.

The body takes its values by slots, as a program does. A state has two places, one of which is that
of the last state: each round reads from one and writes to the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..program import Value
from .layout import root_of
from .memory import ARENA
from .operations import LoopCall
from .scalars import C_TYPES


def loop_lines(call: LoopCall, functions: Sequence[str]) -> tuple[list[str], dict[Value, None]]:
    """Return the lines of a loop whose body is some functions, and the pointers that they name."""
    loop, unit = call.loop, call.unit
    slots = unit.memory.slots
    name = f"slots_{call.out.name}"
    given = [f"(char *)p_{root_of(value).name} + {value.offset}" for value in call.inputs]
    results = [f"(char *)p_{value.name}" for value in call.outputs]
    inputs = [slots[value] for value in (*unit.inputs, *call.inputs[len(unit.inputs) :])]
    outputs = [slots[root_of(value)] for value in unit.outputs]
    changing = loop.states + loop.rows
    lines = ["{", f"char *{name}[{len(slots) + 1}];"]
    lines.append(f"{name}[{ARENA}] = (char *)p_{call.room.name};")
    for slot, text in zip(inputs[changing:], given[changing:], strict=True):
        lines.append(f"{name}[{slot}] = {text};")
    lines += [f"char *state{nr} = {given[nr]};" for nr in range(loop.states)]
    if loop.length is None:
        condition, at = f"*({C_TYPES[unit.inputs[0].dtype]} *)state0", ""
        is_spare = "nr & 1"
    else:
        condition = f"nr < {loop.length}"
        at = f"({loop.length - 1} - nr)" if loop.is_reversed else "nr"
        is_spare = f"({loop.length - 1} - nr) & 1"
    lines.append(f"for (long nr = 0; {condition}; nr++) {{")
    for nr in range(loop.states):
        spare = f"(char *)p_{call.room.name} + {call.spares[nr]}"
        place = f"{is_spare} ? {spare} : {results[nr]}"
        lines.append(f"    {name}[{inputs[nr]}] = state{nr};")
        lines.append(f"    {name}[{outputs[nr]}] = state{nr} = {place};")
    for nr in range(loop.states, changing):
        nbytes = unit.inputs[nr].nbytes
        lines.append(f"    {name}[{inputs[nr]}] = {given[nr]} + {at} * {nbytes};")
    for nr in range(loop.states, len(outputs)):
        nbytes = unit.outputs[nr].nbytes
        lines.append(f"    {name}[{outputs[nr]}] = {results[nr]} + {at} * {nbytes};")
    for function in functions:
        lines.append(f"    {{ const char *wrong = {function}({name}); if (wrong) return wrong; }}")
    lines.append("}")
    for nr in range(loop.states) if loop.length is None else ():
        size = unit.inputs[nr].nbytes
        lines.append(f"if (state{nr} != {results[nr]})")
        lines.append(f"    __builtin_memcpy({results[nr]}, state{nr}, {size});")
    lines.append("}")
    return lines, dict.fromkeys((*map(root_of, call.inputs), *call.outputs, call.room))

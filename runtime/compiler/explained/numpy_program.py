"""A program of the NumPy backend: a call for each step, and the memory that these take over."""

from __future__ import annotations

from typing import Final

from ..buffers import Plan, last_reads, plan
from ..numpy_backend import source_of
from ..partition import root_of
from ..program import Program, Step, Value
from .groups import Apart, Group, Seen, Threads, Work
from .memory import Kind, MemoryPlan, Storage
from .texts import count, short


def seen(program: Program) -> Seen:
    """Return what the NumPy backend makes of a program."""
    groups = tuple(_group(nr, step) for nr, step in enumerate(program.steps, 1))
    return source_of(program), groups, memory_of(program)


def _group(number: int, step: Step) -> Group:
    apart = (Apart(range(1, number), "CALL", "a call of NumPy, which nothing joins"),)
    reads = tuple(dict.fromkeys(step.inputs))
    title = f"call of {short(step.function)}"
    works = (Work(step, step.outputs),)
    body: tuple[Group, ...] = ()
    memory: MemoryPlan | None = None
    if step.function == "array.loop":
        loop = step.args[0]
        rounds = "rounds" if loop.length is None else count(loop.length, "round")
        title = f"{rounds} of a function"
        _, body, memory = seen(loop.body)
    return Group(
        *(number, "NumPy", title, (), 0, works, reads, step.outputs, _THREADS),
        *(apart if number > 1 else (), body, memory),
    )


_THREADS: Final = Threads(1, 1, "CALL", "NumPy shares products of matrices only, by its BLAS")


def memory_of(program: Program) -> MemoryPlan:
    """Return where the values of a program lie that own their memory."""
    buffers = plan(program)
    last = last_reads(program)
    returned = {root_of(value) for value in program.outputs}
    constants = {value for value, _ in program.constants}
    found = []
    for value in (*program.inputs, *constants):
        kind: Kind = "constant" if value in constants else "input"
        found.append(Storage(value, kind, value.nbytes, 0, last.get(value, -1) + 1))
    for nr, step in enumerate(program.steps):
        shares = (buffers.into[nr],) if nr in buffers.into else ()
        for value in step.outputs:
            if value.base is None:
                kind = "output" if value in returned else "array"
                end = len(program.steps) if value in returned else last[value]
                found.append(Storage(value, kind, value.nbytes, nr + 1, end + 1, shares=shares))
    temporary = [each for each in found if each.kind == "array"]
    handed_on = _handed_on(program, buffers, returned)
    return MemoryPlan(
        tuple(found),
        sum(e.nbytes for e in temporary if not e.shares and e.value not in handed_on),
        sum(e.nbytes for e in temporary),
        sum(e.nbytes for e in found if e.kind == "output"),
    )


def _handed_on(program: Program, buffers: Plan, returned: set[Value]) -> set[Value]:
    """Find the values whose memory becomes that of a result."""
    found: set[Value] = set()
    for nr in reversed(buffers.into):
        (value,) = program.steps[nr].outputs
        if value in returned or value in found:
            found.add(buffers.into[nr])
    return found

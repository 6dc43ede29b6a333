"""A program as C: functions that Python calls stand between."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..kept.texts import rendered
from ..program import Program, Value
from . import blas
from .groups import Nest
from .layout import extent, root_of
from .memory import ARENA, Memory
from .nests import Writer
from .operations import Call, LoopCall, PythonCall
from .rounds import loop_lines
from .scalars import C_TYPES, MATH_FUNCTIONS, MATH_FUNCTIONS_OF_TWO
from .shared import Bodies, Body
from .threads import SHARED_PRODUCT, part_columns
from .units import Unit, size_of, unit_of

SHARED_FROM: Final = 500
"""Operations from which nests that are alike become one function."""

HELPERS: Final = {
    "remainder": (),
    "floor_divide": (),
    "logaddexp": ("exp", "log1p"),
    "sincos": ("sin", "cos"),
    "ndtr": (),
    "bell": (),
}
"""Functions that C lacks, with the functions that they call."""

NARROW_FROM: Final = 2.0**18
"""Multiplications of a product from which BLAS would start threads.

Between two calls these wait in loops, and keep others from their cores for milliseconds. So threads
of the program share products, by calls of BLAS for parts.
"""
LEAF: Final = 64
"""Rows of a triangular system up to which BLAS solves it as a whole."""


@dataclass
class Part:
    """A nest or a call, with a comment that says what it computes."""

    title: str
    lines: list[str]


@dataclass
class Worker:
    """A C function that does a part of a loop, in one of several threads."""

    name: str
    lines: list[str]


@dataclass
class Function:
    """A C function of the program."""

    name: str
    is_inner: bool = False
    """True if only a loop of another function calls it."""
    pointers: list[str] = field(default_factory=list)
    workers: list[Worker] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)


@dataclass
class Source:
    """All that a program is built from."""

    text: str
    stages: list[str | PythonCall]
    """Names of C functions, and Python calls, in order."""
    unit: Unit
    calls_blas: bool
    narrows_blas: bool
    """True if BLAS must start no threads, because those of the program share its products."""


def written(program: Program) -> Source:
    """Return a program in C."""
    unit = unit_of(program)
    text = _Text()
    stages = text.add(unit, "part", is_inner=False)
    shares = unit.shares_products
    statistics = f"{len(program.steps)} steps in {len(unit.schedule.parts)} parts"
    return Source(
        text.rendered(statistics, shares_products=shares),
        stages,
        unit,
        unit.largest_product > 0,
        unit.largest_product >= NARROW_FROM and shares,
    )


class _Text:
    """The functions of a program and of the bodies of its loops, in the order of the file."""

    def __init__(self) -> None:
        self.functions: list[Function] = []
        self.bodies = Bodies()
        self.calls: list[tuple[Part, Body, str]] = []

    def add(self, unit: Unit, name: str, *, is_inner: bool) -> list[str | PythonCall]:
        """Write a unit; return the names of its functions, and its Python calls, in order."""
        functions: dict[int, Function] = {}
        stages: list[str | PythonCall] = []
        used: dict[int, dict[Value, None]] = {}
        is_long = sum(map(size_of, unit.schedule.parts)) > SHARED_FROM
        for number, part in zip(unit.numbers, unit.schedule.parts, strict=True):
            if isinstance(part, PythonCall):
                stages.append(part)
                continue
            if number not in functions:
                functions[number] = Function(f"{name}{number}", is_inner)
                stages.append(functions[number].name)
            function = functions[number]
            lines, pointers = self._lines(part, unit.memory, function)
            function.parts.append(Part(_title(part), lines))
            if is_long and isinstance(part, Nest) and "gs_share(" not in "".join(lines):
                body, call = self.bodies.add(lines, part.makers, pointers)
                self.calls.append((function.parts[-1], body, call))
            used.setdefault(number, {}).update(pointers)
        for number, function in functions.items():
            function.pointers = [_pointer(value, unit.memory) for value in used[number]]
            self.functions.append(function)
        return stages

    def _lines(
        self, part: Nest | Call | LoopCall, memory: Memory, function: Function
    ) -> tuple[list[str], dict[Value, None]]:
        if isinstance(part, LoopCall):
            stages = self.add(part.unit, f"round_of_{part.out.name}_", is_inner=True)
            return loop_lines(part, [str(stage) for stage in stages])
        return _lines(part, memory, function)

    def rendered(self, statistics: str, *, shares_products: bool) -> str:
        """Return the text of the file; BLAS has threads where those of the program have none."""
        for called, body, call in self.calls:
            if body.uses > 1:
                called.lines = [call]
        bodies = [body for body in self.bodies.found.values() if body.uses > 1]
        values = {
            "bodies": bodies,
            "functions": self.functions,
            "statistics": statistics,
            "leaf": LEAF,
            "part_columns": part_columns(),
            "shared_from": f"{SHARED_PRODUCT:g}",
            "shares_products": int(shares_products),
            **_declared(bodies, self.functions),
        }
        return _EMPTY_LINES.sub("\n\n", rendered("program.c.j2", values))


def _declared(bodies: list[Body], functions: list[Function]) -> dict[str, Any]:
    """Return what has to stand before functions, because they call it."""
    lines = [line for body in bodies for line in body.lines]
    for function in functions:
        lines += [line for worker in function.workers for line in worker.lines]
        lines += [line for part in function.parts for line in part.lines]
    called = {*_CALLED.findall("\n".join(lines))}
    helpers = [name for name in HELPERS if called & {f"gs_{name}", f"gs_{name}f"}]
    called |= {f"gs_{name}" for helper in helpers for name in HELPERS[helper]}
    named = [(dtype.name, ctype) for dtype, ctype in C_TYPES.items()]
    calls_blas = any(name.endswith(("_call", "gs_share_products")) for name in called)
    found = blas.library() if calls_blas else None
    return {
        "helpers": helpers,
        "functions_of_one": _among(MATH_FUNCTIONS, called),
        "functions_of_two": _among(MATH_FUNCTIONS_OF_TWO, called),
        "ordered": [
            (name, ctype)
            for name, ctype in named
            if called & {f"gs_maximum_{name}", f"gs_minimum_{name}"}
        ],
        "calls_blas": calls_blas,
        "blas_integer": found.integer if found is not None else "int",
    }


_EMPTY_LINES: Final = re.compile(r"\n{3,}")
_CALLED: Final = re.compile(r"\bgs_\w+")


def _among(names: Iterable[str], called: Set[str]) -> list[str]:
    return [name for name in names if called & {f"gs_{name}", f"gs_{name}f"}]


def _lines(
    part: Nest | Call, memory: Memory, function: Function
) -> tuple[list[str], dict[Value, None]]:
    if isinstance(part, Nest):
        writer = Writer(part, memory)
        lines = writer.write(f"{function.name}_loop{len(function.workers)}")
        if writer.worker:
            function.workers.append(Worker(writer.worker, writer.worker_lines))
        return lines, writer.used
    pointers = [_address(value) for value in part.operands]
    lines = [line.format(*pointers, out=_address(part.out)) for line in part.lines]
    used = dict.fromkeys((*map(root_of, part.operands), part.out))
    if part.is_shared:
        lines = _shared_rounds(part, lines, used, function)
    elif part.rounds:
        lines = [f"for (long i = 0; i < {part.rounds}; i++) {{", *lines, "}"]
    return lines, used


def _shared_rounds(
    part: Call, lines: list[str], used: Iterable[Value], function: Function
) -> list[str]:
    """Return the lines that let threads run the rounds, which become a function."""
    worker = f"{function.name}_loop{len(function.workers)}"
    names = [(f"p_{value.name}", C_TYPES[value.dtype]) for value in used]
    pointers = [
        f"{ctype} *{name} = ({ctype} *)values[{nr}];" for nr, (name, ctype) in enumerate(names)
    ]
    rounds = ["for (long i = from; i < to; i++) {", *(f"    {line}" for line in lines), "}"]
    function.workers.append(Worker(worker, [*pointers, *rounds]))
    values = ", ".join(f"(char *){name}" for name, _ in names)
    return [
        "{",
        f"    char *values[] = {{{values}}};",
        f"    gs_share_products({worker}, values, {part.rounds}, 1);",
        "}",
    ]


def _address(value: Value) -> str:
    return f"(char *)p_{root_of(value).name} + {value.offset}"


def _pointer(value: Value, memory: Memory) -> str:
    ctype = C_TYPES[value.dtype]
    name = f"*p_{value.name}"
    if value in memory.slots:
        return f"{ctype} {name} = ({ctype} *)slots[{memory.slots[value]}];"
    if value in memory.arena:
        return f"{ctype} {name} = ({ctype} *)(slots[{ARENA}] + {memory.arena[value]});"
    before, size = extent(value)
    length = size // value.dtype.itemsize
    room = f"room_{value.name}[{length}] __attribute__((aligned(64)))"
    return f"{ctype} {room}, {name} = room_{value.name} + {before // value.dtype.itemsize};"


def _title(part: Nest | Call | LoopCall) -> str:
    operations = [each.operation for each in part.placed] if isinstance(part, Nest) else [part]
    names: dict[str, None] = {}
    for operation in operations:
        place = operation.step.place
        names[place.op or operation.step.function] = None
    places = dict.fromkeys(
        f"{Path(operation.step.place.file).name}:{operation.step.place.line}"
        for operation in operations
        if operation.step.place.line
    )
    shape = "×".join(map(str, part.dims)) if isinstance(part, Nest) else ""
    if isinstance(part, LoopCall):
        shape = "rounds" if part.loop.length is None else f"{part.loop.length} rounds"
    what = ", ".join(names)
    where = f" ({', '.join(places)})" if places else ""
    return f"{shape + ': ' if shape else ''}{what}{where}".replace("*/", "* /")

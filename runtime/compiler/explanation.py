"""`explain`: what became of a function: its groups, memory, steps, what is saved, the source."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .entrance import compile
from .executable import Executable
from .explained import numpy_program
from .explained.groups import Group, Seen, groups_lines, memory_lines
from .explained.memory import MemoryPlan
from .explained.picture import arena_svg
from .explained.texts import count, heading, step_lines, wrapped
from .explained.times import Timings, profiled
from .function import CompiledFunction
from .module import OptimizedModule
from .program import Program, Value


@dataclass(frozen=True)
class ProgramReport:
    """One program: its groups and memory, its steps, its source, and times if they were asked for.

    As text it is its steps.
    """

    name: str
    program: Program
    source: str
    groups: tuple[Group, ...]
    """The operations that run together, in order."""
    memory: MemoryPlan
    """The places of the values."""
    timings: Timings = ()

    def __str__(self) -> str:
        lines = [heading(f"{self.name}: {count(len(self.program.steps), 'step')}")]
        lines += [f"  input {value}" for value in self.program.inputs]
        times = {timing.step: timing.seconds for timing in self.timings}
        for step in self.program.steps:
            took = f"{times[step] * 1e6:9.1f} µs  " if step in times else "  "
            lines += step_lines(step, took)
        lines += [f"  writes {new.name} to {value.name}" for value, new in self.program.writes]
        lines.append(f"  returns {', '.join(value.name for value in self.program.outputs)}")
        return "\n".join(lines)

    def save_memory(self, path: str | Path) -> None:
        """Draw the arena as SVG: the bytes of each value, by groups; ValueError if it is empty."""
        if not any(each.kind == "arena" for each in self.memory.storages):
            raise ValueError("save_memory(): no value of this program lies in the arena")
        Path(path).write_text(arena_svg(self.memory), encoding="utf-8")

    @property
    def summary(self) -> str:
        """The size of the program, in a line."""
        steps = count(len(self.program.steps), "step")
        return f"{self.name}: {steps} in {count(len(self.groups), 'group')}, {self.memory.totals}"

    @property
    def parts(self) -> str:
        """The groups and the memory, as text."""
        groups = "\n".join(groups_lines(self.groups, self.memory))
        memory = "\n".join(memory_lines(self.groups, self.memory))
        return (
            f"{heading(f'{self.name}, groups')}\n{groups}\n\n"
            f"{heading(f'{self.name}, memory')}\n{memory}"
        )


@dataclass(frozen=True)
class Explanation:
    """Findings of `gs.compiler.explain`; printing it shows all of them."""

    forward: ProgramReport
    backward: ProgramReport | None
    saved: tuple[Value, ...]
    """Values that a call saves for its backward pass."""
    guards: tuple[str, ...]
    """Guards: conditions that are checked before every call, besides the arguments."""

    @property
    def saved_bytes(self) -> int:
        """The bytes of what a call keeps for its backward pass."""
        return sum(value.nbytes for value in self.saved)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups of the program of a call; those of its backward pass are in `backward`."""
        return self.forward.groups

    @property
    def memory(self) -> MemoryPlan:
        """The memory of the program of a call; that of its backward pass is in `backward`."""
        return self.forward.memory

    def __str__(self) -> str:
        reports = [self.forward] if self.backward is None else [self.forward, self.backward]
        parts = ["\n".join(report.summary for report in reports)]
        parts += [report.parts for report in reports]
        if self.backward is not None:
            title = heading(f"saved for the backward pass, {count(self.saved_bytes, 'byte')}")
            parts.append("\n".join((title, *wrapped(map(str, self.saved), end=","))))
        parts += map(str, reports)
        title = heading("guards, which are checked before every call")
        parts.append("\n".join((title, *wrapped(self.guards, end=","))))
        parts += [f"{heading(f'{report.name}, source')}\n{report.source}" for report in reports]
        return "\n\n".join(parts)

    def save_trace(self, path: str | Path) -> None:
        """Write the times of all steps as a Chrome trace; ValueError if none were measured."""
        reports = [r for r in (self.forward, self.backward) if r is not None and r.timings]
        if not reports:
            raise ValueError("save_trace(): nothing was measured, call explain(..., profile=True)")
        events, at = [], 0.0
        for report in reports:
            for timing in report.timings:
                events.append(
                    {
                        "name": timing.step.function,
                        "cat": report.name,
                        "ph": "X",
                        "ts": at,
                        "dur": timing.seconds * 1e6,
                        "pid": 0,
                        "tid": 0,
                        "args": {"place": str(timing.step.place)},
                    }
                )
                at += timing.seconds * 1e6
        Path(path).write_text(json.dumps({"traceEvents": events}), encoding="utf-8")


def explain(
    function: Callable[..., Any], *args: Any, profile: bool = False, **kwargs: Any
) -> Explanation:
    """Return what a function, compiled or not, becomes for some arguments; it is captured for them.

    The function is not called but by the capture. With `profile` each step is run by itself by
    NumPy, on these arguments, and the backward pass on cotangents of ones: of a C program this
    shows where the work is, not its time. Nothing is written to, and random generators stay as
    they are. RuntimeError where the function runs as it is (`fullgraph=False`).
    """
    known = isinstance(function, CompiledFunction | OptimizedModule)
    compiled: Any = function if known else compile(function)
    entry = compiled.entry_for(*args, **kwargs)
    executable: Executable | None = entry.executable
    if executable is None:
        raise RuntimeError(f"explain(): there is no program of this call: {entry.reason}")
    gradients = executable.parts.gradients.get(executable.trace.differentiable)
    times: tuple[Timings, Timings] = (), ()
    if profile:
        times = profiled(executable, gradients, compiled.inputs_of(entry, args, kwargs))
    seen = _seen_by(executable, compiled.backend.name)
    forward = ProgramReport("forward", executable.forward, *seen(executable.forward), times[0])
    backward = None
    if gradients is not None:
        backward = ProgramReport("backward", gradients, *seen(gradients), times[1])
    names = tuple(guard.name for guard in entry.sources.guards)
    return Explanation(forward, backward, executable.parts.saved if backward else (), names)


def _seen_by(executable: Executable, backend: str) -> Callable[[Program], Seen]:
    """Return what tells how the backend builds a program: NumPy's if there is no C compiler."""
    if backend == "numpy":
        return numpy_program.seen
    from .explained import c_program

    by_numpy = hasattr(executable.run, "source")
    if by_numpy and c_program.seen(executable.forward) is not None:
        return numpy_program.seen
    return lambda program: c_program.seen(program) or numpy_program.seen(program)

"""`explain`: what became of a function: its program, what is saved, the source, where time goes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .entrance import compile
from .executable import Executable
from .function import CompiledFunction
from .module import OptimizedModule
from .numpy_backend import source_of as numpy_source_of
from .program import Loop, Program, Step, Value, rewrite
from .steps import function_of


@dataclass(frozen=True)
class Timing:
    """Time a step: the least of several runs, in seconds."""

    step: Step
    seconds: float


@dataclass(frozen=True)
class ProgramReport:
    """One program: as steps, as source, and its times if they were asked for."""

    name: str
    program: Program
    source: str
    timings: tuple[Timing, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.program.steps)} steps"]
        lines += [f"  input {value}" for value in self.program.inputs]
        times = {timing.step: timing.seconds for timing in self.timings}
        for step in self.program.steps:
            took = f"{times[step] * 1e6:9.1f} µs  " if step in times else "  "
            lines += _lines(step, took)
        lines += [f"  writes {new.name} to {value.name}" for value, new in self.program.writes]
        lines.append(f"  returns {', '.join(value.name for value in self.program.outputs)}")
        return "\n".join(lines)


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

    def __str__(self) -> str:
        parts = [str(self.forward)]
        if self.backward is not None:
            saved = ", ".join(map(str, self.saved))
            parts += [f"saved, {self.saved_bytes} bytes: {saved}", str(self.backward)]
        parts += [f"guards: {', '.join(self.guards)}", self.forward.source]
        if self.backward is not None:
            parts.append(self.backward.source)
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
    executable = entry.executable
    if executable is None:
        raise RuntimeError(f"explain(): there is no program of this call: {entry.reason}")
    source_of = _source_of(compiled.backend.name)
    gradients = executable.parts.gradients.get(executable.trace.differentiable)
    times: tuple[tuple[Timing, ...], tuple[Timing, ...]] = (), ()
    if profile:
        times = _profiled(executable, gradients, compiled.inputs_of(entry, args, kwargs))
    forward = _report("forward", executable.forward, source_of, times[0])
    backward = None
    if gradients is not None:
        backward = _report("backward", gradients, source_of, times[1])
    names = tuple(guard.name for guard in entry.sources.guards)
    return Explanation(forward, backward, executable.parts.saved if backward else (), names)


def _source_of(backend: str) -> Callable[[Program], str]:
    if backend == "numpy":
        return numpy_source_of
    from .c import source_of

    return source_of


def _report(
    name: str, program: Program, source_of: Callable[[Program], str], timings: tuple[Timing, ...]
) -> ProgramReport:
    return ProgramReport(name, program, source_of(program), timings)


RUNS = 5
"""Runs of a step, of which the shortest counts."""


def _profiled(
    executable: Executable, gradients: Program | None, inputs: Sequence[Any]
) -> tuple[tuple[Timing, ...], tuple[Timing, ...]]:
    """Run the steps forward and backward, one by one, and measure each."""
    forward, found = _timed(executable.forward, inputs)
    if gradients is None:
        return forward, ()
    saved = found[len(executable.trace.program.outputs) :]
    given = [saved[nr] for nr in executable.parts.taken[executable.trace.differentiable]]
    cotangents = gradients.inputs[len(given) :]
    given += [np.ones(value.shape, value.dtype) for value in cotangents]
    return forward, _timed(gradients, given)[0]


def _timed(program: Program, inputs: Sequence[Any]) -> tuple[tuple[Timing, ...], list[Any]]:
    """Return the times of the steps of a program, and its outputs."""
    values: dict[Value, Any] = dict(program.constants)
    values |= zip(program.inputs, inputs, strict=True)
    timings = []
    for step in program.steps:
        args, kwargs = rewrite((step.args, dict(step.kwargs)), values)
        function = function_of(step.function)
        generator = args[0] if step.function == "array.draw" else None
        shortest = float("inf")
        with np.errstate(all="ignore"):
            for _ in range(RUNS):
                state = None if generator is None else generator.get_state()
                start = time.perf_counter()
                found = function(*args, **kwargs)
                shortest = min(shortest, time.perf_counter() - start)
                if generator is not None:
                    generator.set_state(state)
        timings.append(Timing(step, shortest))
        arrays = found if step.is_tuple else (found,)
        for value, array in zip(step.outputs, arrays, strict=True):
            values[value] = np.asarray(array)
    return tuple(timings), [values[value] for value in program.outputs]


def _lines(step: Step, before: str) -> list[str]:
    """Return a step as text; below a loop is what a round of it does."""
    outputs = ", ".join(map(str, step.outputs))
    lines = [f"{before}{outputs} = {_called(step)}  {step.place}".rstrip()]
    if step.function == "array.loop":
        body = step.args[0].body
        within = " " * (len(before) + 2)
        lines.append(f"{within}from {', '.join(map(str, body.inputs))}")
        for inner in body.steps:
            lines += _lines(inner, within)
        lines.append(f"{within}to {', '.join(value.name for value in body.outputs)}")
    return lines


def _called(step: Step) -> str:
    """A step as a call, with the names of values."""
    texts = [_text(arg) for arg in step.args]
    texts += [f"{name}={_text(value)}" for name, value in step.kwargs.items()]
    return f"{step.function}({', '.join(texts)})"


def _text(structure: Any) -> str:
    if isinstance(structure, Value):
        return structure.name
    if isinstance(structure, Loop):
        rounds = "while true" if structure.length is None else f"{structure.length} rounds"
        return f"{rounds} backward" if structure.is_reversed else rounds
    if isinstance(structure, tuple):
        return f"({', '.join(map(_text, structure))})"
    if isinstance(structure, list):
        return f"[{', '.join(map(_text, structure))}]"
    if isinstance(structure, Mapping):
        return f"{{{', '.join(f'{key}: {_text(value)}' for key, value in structure.items())}}}"
    if isinstance(structure, slice):
        return ":".join("" if x is None else _text(x) for x in (structure.start, structure.stop))
    return repr(structure)

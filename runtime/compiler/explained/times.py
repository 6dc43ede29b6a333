"""Times of steps, which run one by one on NumPy."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..executable import Executable
from ..program import Program, Step, Value, rewrite
from ..steps import function_of

RUNS: Final = 5
"""Runs of a step, of which the shortest counts."""


@dataclass(frozen=True)
class Timing:
    """Time a step: the least of several runs, in seconds."""

    step: Step
    seconds: float


Timings = tuple[Timing, ...]


def profiled(
    executable: Executable, gradients: Program | None, inputs: Sequence[Any]
) -> tuple[Timings, Timings]:
    """Run the steps forward and backward, one by one, and measure each."""
    forward, found = _timed(executable.forward, inputs)
    if gradients is None:
        return forward, ()
    saved = found[len(executable.trace.program.outputs) :]
    given = [saved[nr] for nr in executable.parts.taken[executable.trace.differentiable]]
    cotangents = gradients.inputs[len(given) :]
    given += [np.ones(value.shape, value.dtype) for value in cotangents]
    return forward, _timed(gradients, given)[0]


def _timed(program: Program, inputs: Sequence[Any]) -> tuple[Timings, list[Any]]:
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

"""The joint program in two: what a call computes, and what its backward pass does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .program import Program, Step, Value
from .steps import IMPURE


def needed_steps(steps: Sequence[Step], wanted: Iterable[Value]) -> list[Step]:
    """Return the steps that lead to some values, in order, and those that must stay."""
    alive = set(wanted)
    kept: list[Step] = []
    for step in reversed(steps):
        if step.function in IMPURE or not alive.isdisjoint(step.outputs):
            kept.append(step)
            alive.update(step.inputs)
    kept.reverse()
    return kept


def defined(program: Program) -> set[Value]:
    """The values that a program makes: no inputs, no constants."""
    return {value for step in program.steps for value in step.outputs}


def read_by(steps: Iterable[Step]) -> list[Value]:
    """The values that steps read, each once, in order."""
    return list(dict.fromkeys(value for step in steps for value in step.inputs))


def is_view(step: Step) -> bool:
    """Return whether all results of a step are views of what it reads."""
    return bool(step.outputs) and all(value.base is not None for value in step.outputs)


def split(
    program: Program,
    cotangents: Sequence[Value],
    grads: Sequence[Value],
    is_repeated: Callable[[Step], bool] = is_view,
) -> tuple[Program, Program, tuple[Value, ...]]:
    """Return the forward program, the backward program, and the values between them.

    Steps that may be `is_repeated` are in both, if the second needs them.

    The outputs of the first are those of `program`, then these values, which the second gets
    first, before the cotangents. They own their memory: views of them are made again. Of an input
    that the program writes to there is a copy of what was there.
    """
    forward = needed_steps(
        program.steps, (*program.outputs, *(value for _, value in program.writes))
    )
    done = set(forward)
    left = [step for step in program.steps if step not in done or is_repeated(step)]
    backward = [step for step in needed_steps(left, grads) if step.function not in IMPURE]
    made = {value for step in backward for value in step.outputs}
    constants = {value for value, _ in program.constants}
    own = made | constants | set(cotangents)
    wanted = [*read_by(backward), *grads]
    saved = tuple(dict.fromkeys(value for value in wanted if value not in own))
    written = {value for value, _ in program.writes}
    copies = {value: copy_of(value, "saved") for value in saved if root_of(value) in written}
    forward += copies.values()
    kept = [copies[value].outputs[0] if value in copies else value for value in saved]
    first = Program(
        program.inputs,
        _used(program, forward, [*program.outputs, *kept, *(v for _, v in program.writes)]),
        tuple(forward),
        (*program.outputs, *kept),
        program.writes,
    )
    second = Program(
        (*saved, *cotangents), _used(program, backward, grads), tuple(backward), tuple(grads)
    )
    return first, second, saved


def with_own_outputs(program: Program) -> Program:
    """Let every output have memory of its own, by a copy of views of an input or another output.

    What the caller does to one result then changes no argument, and no other result.
    """
    taken = {*program.inputs, *(value for value, _ in program.constants)}
    steps = list(program.steps)
    outputs = []
    for nr, value in enumerate(program.outputs):
        if root_of(value) in taken:
            steps.append(copy_of(value, f"copy{nr}"))
            value = steps[-1].outputs[0]
        taken.add(root_of(value))
        outputs.append(value)
    return replace(program, steps=tuple(steps), outputs=tuple(outputs))


def root_of(value: Value) -> Value:
    """Return the value that owns the memory of a value."""
    return value if value.base is None else value.base


def copy_of(value: Value, prefix: str) -> Step:
    """Return a step that copies a value, its dimensions in the same order in memory."""
    order = sorted(range(len(value.shape)), key=lambda dim: -abs(value.strides[dim]))
    like = np.empty([value.shape[dim] for dim in order], value.dtype)
    strides = like.transpose(np.argsort(order)).strides if order else ()
    made = Value(f"{prefix}_{value.name}", value.shape, value.dtype, tuple(strides))
    return Step("array.copy", (value,), {}, (made,))


def _used(program: Program, steps: Sequence[Step], outputs: Iterable[Value]) -> tuple[Any, ...]:
    used = {*read_by(steps), *outputs}
    return tuple(pair for pair in program.constants if pair[0] in used)

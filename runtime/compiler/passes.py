"""Passes over a program: each returns another one that computes the same.

Every pass keeps each number as it is, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from .partition import needed_steps, read_by, root_of
from .program import Loop, Program, Step, Value, rewrite, walk
from .steps import IMPURE, function_of

FOLDED_MAX: Final = 1 << 16
"""Elements up to which what is computed of constants alone is computed once."""


def optimize(program: Program) -> Program:
    """Apply all passes, in order."""
    for apply in PASSES:
        program = apply(program)
    return program


def fold_constants(program: Program) -> Program:
    """Compute steps whose arguments are all constants; small constants become numbers of ufuncs."""
    known = dict(program.constants)
    renamed: dict[Value, Value] = {}
    steps: list[Step] = []
    for step in program.steps:
        args, kwargs = rewrite((step.args, step.kwargs), renamed)
        inputs = tuple(walk((args, kwargs)))
        is_constant = all(value in known for value in inputs) and step.function not in IMPURE
        if not is_constant or any(v.size > FOLDED_MAX for v in (*inputs, *step.outputs)):
            outputs = tuple(_on_folded(step, value, renamed) for value in step.outputs)
            steps.append(replace(step, args=args, kwargs=kwargs, outputs=outputs))
            continue
        args, kwargs = rewrite((args, kwargs), known)
        with np.errstate(all="ignore"):
            found = function_of(step.function)(*args, **kwargs)
        for value, array in zip(step.outputs, found if step.is_tuple else (found,), strict=True):
            if value.base is not None:  # a part of a constant is one of its own
                renamed[value] = replace(value, base=None, offset=0)
            known[renamed.get(value, value)] = np.asarray(array)
    outputs, writes = rewrite((program.outputs, program.writes), renamed)
    used = {*read_by(steps), *outputs, *(value for _, value in writes)}
    constants = tuple(pair for pair in known.items() if pair[0] in used)
    return replace(program, constants=constants, steps=tuple(steps), outputs=outputs, writes=writes)


def _on_folded(step: Step, value: Value, renamed: dict[Value, Value]) -> Value:
    """Return a view of a part of a constant as one of the constant that the part is now."""
    source = step.args[0] if step.args and isinstance(step.args[0], Value) else None
    if value.base is None or source is None or source not in renamed:
        return value
    onto = renamed[source]
    moved = value.offset - source.offset + onto.offset
    renamed[value] = replace(value, base=root_of(onto), offset=moved)
    return renamed[value]


def merge_equal_constants(program: Program) -> Program:
    """Keep one of the constants that are the same array, bit by bit."""
    first: dict[Any, Value] = {}
    renamed: dict[Value, Value] = {}
    kept = []
    for value, array in program.constants:
        if array.size > FOLDED_MAX or value in program.outputs:
            kept.append((value, array))
            continue
        key = (value.shape, value.dtype, value.strides, array.tobytes())
        if key in first:
            renamed[value] = first[key]
        else:
            first[key] = value
            kept.append((value, array))
    return _renamed(replace(program, constants=tuple(kept)), renamed)


def drop_no_ops(program: Program) -> Program:
    """Replace views of a whole by it, and what hands on its argument (`NO_OPS`) by the argument."""
    renamed: dict[Value, Value] = {}
    steps = []
    for step in program.steps:
        args, kwargs = rewrite((step.args, step.kwargs), renamed)
        step = replace(step, args=args, kwargs=kwargs)
        rule = NO_OPS.get(step.function)
        first = step.outputs[0] if step.outputs else None
        if not step.is_tuple and first is not None and _is_whole(first):
            assert first.base is not None
            renamed[first] = renamed.get(first.base, first.base)
        elif rule is not None and rule(step):
            renamed[step.outputs[0]] = step.args[0]
        else:
            steps.append(step)
    return _renamed(replace(program, steps=tuple(steps)), renamed)


def drop_copies(program: Program) -> Program:
    """Read what was copied in place of a copy in the same layout, as nothing is written over.

    What the program does not make itself stays apart, and so do two values that are both returned.
    """
    made: set[Value] = set()
    returned = {*program.outputs, *(value for _, value in program.writes)}
    renamed: dict[Value, Value] = {}
    steps = []
    for step in program.steps:
        args, kwargs = rewrite((step.args, step.kwargs), renamed)
        step = replace(step, args=args, kwargs=kwargs)
        source, copy = (step.args[0], step.outputs[0]) if step.function == "array.copy" else (0, 0)
        is_spare = (
            isinstance(source, Value)
            and isinstance(copy, Value)
            and source in made
            and _layout(source) == _layout(copy)
            and not (copy in returned and source in returned)
        )
        if not is_spare:
            made.update(value for value in step.outputs if value.base is None)
            steps.append(step)
            continue
        assert isinstance(source, Value)
        assert isinstance(copy, Value)
        renamed[copy] = source
        if copy in returned:
            returned.add(source)
    return _renamed(replace(program, steps=tuple(steps)), renamed)


def merge_equal_steps(program: Program) -> Program:
    """Compute once what several steps compute by the same call."""
    known: dict[Any, Step] = {}
    renamed: dict[Value, Value] = {}
    steps = []
    for step in program.steps:
        args, kwargs = rewrite((step.args, step.kwargs), renamed)
        step = replace(step, args=args, kwargs=kwargs)
        key = None if step.function in IMPURE else _key((step.function, args, kwargs))
        before = known.get(key) if key is not None else None
        if before is not None and [o.base for o in before.outputs] == [
            o.base for o in step.outputs
        ]:
            renamed.update(zip(step.outputs, before.outputs, strict=True))
            continue
        if key is not None:
            known[key] = step
        steps.append(step)
    return _renamed(replace(program, steps=tuple(steps)), renamed)


def drop_dead_steps(program: Program) -> Program:
    """Leave out steps whose results nothing reads, and constants."""
    wanted = (*program.outputs, *(value for _, value in program.writes))
    steps = needed_steps(program.steps, wanted)
    used = {*read_by(steps), *wanted}
    constants = tuple(pair for pair in program.constants if pair[0] in used)
    return replace(program, steps=tuple(steps), constants=constants)


def trim_loops(program: Program) -> Program:
    """Let loops compute, and take, no more than what is read of them."""
    alive = {*program.outputs, *(value for _, value in program.writes)}
    steps: list[Step] = []
    for step in reversed(program.steps):
        if step.function == "array.loop" and not alive.isdisjoint(step.outputs):
            step = _trimmed(step, alive)
        if step.function in IMPURE or not alive.isdisjoint(step.outputs):
            alive.update(step.inputs)
        steps.append(step)
    return replace(program, steps=tuple(reversed(steps)))


def _trimmed(step: Step, alive: set[Value]) -> Step:
    """Return a loop without the results and states that nothing reads."""
    loop, states, rows, others = step.args
    body, count = loop.body, loop.states
    results = [nr for nr, value in enumerate(step.outputs) if nr >= count and value in alive]
    is_condition = loop.length is None
    kept = [nr for nr in range(count) if step.outputs[nr] in alive or (is_condition and not nr)]
    while True:
        outputs = [body.outputs[nr] for nr in (*kept, *results)]
        needed = needed_steps(body.steps, outputs)
        used = {*read_by(needed), *outputs}
        read = [nr for nr in range(count) if nr in kept or body.inputs[nr] in used]
        if read == kept:
            break
        kept = read
    given = (*states, *rows, *others)
    taken = kept + [nr for nr in range(count, len(given)) if body.inputs[nr] in used]
    first = len(kept)
    last = first + sum(nr < count + loop.rows for nr in taken[first:])
    trimmed = Loop(
        Program(
            tuple(body.inputs[nr] for nr in taken),
            tuple(pair for pair in body.constants if pair[0] in used),
            tuple(needed),
            tuple(outputs),
        ),
        *(loop.length, first, last - first, loop.is_reversed),
    )
    args = tuple(given[nr] for nr in taken)
    return replace(
        step,
        args=(trimmed, args[:first], args[first:last], args[last:]),
        outputs=tuple(step.outputs[nr] for nr in (*kept, *results)),
    )


def _renamed(program: Program, renamed: Mapping[Value, Value]) -> Program:
    """Read other values in place of some; views of them are views of those."""
    if not renamed:
        return program
    rebased: dict[Value, Value] = dict(renamed)

    def final(value: Value) -> Value:
        while value in renamed:
            value = renamed[value]
        return value

    steps = []
    for step in program.steps:
        args, kwargs = rewrite((step.args, step.kwargs), rebased)
        outputs = []
        for value in step.outputs:
            if value.base is not None and value.base in renamed:
                onto = final(value.base)
                made = replace(
                    value,
                    base=onto if onto.base is None else onto.base,
                    offset=value.offset + onto.offset,
                )
                rebased[value] = made
                value = made
            outputs.append(value)
        steps.append(replace(step, args=args, kwargs=kwargs, outputs=tuple(outputs)))
    return replace(
        program,
        steps=tuple(steps),
        outputs=tuple(_resolved(value, rebased) for value in program.outputs),
        writes=tuple((a, _resolved(b, rebased)) for a, b in program.writes),
    )


def _resolved(value: Value, renamed: Mapping[Value, Value]) -> Value:
    while value in renamed:
        value = renamed[value]
    return value


def _key(structure: Any) -> Any:
    """Return something hashable that is equal for equal arguments; None if there is no such."""
    try:
        key = _hashable(structure)
        hash(key)
    except TypeError:
        return None
    return key


def _hashable(structure: Any) -> Any:
    if isinstance(structure, tuple | list):
        return (type(structure).__name__, *map(_hashable, structure))
    if isinstance(structure, Mapping):
        return tuple((key, _hashable(structure[key])) for key in sorted(structure))
    if isinstance(structure, slice):
        return "slice", *map(_hashable, (structure.start, structure.stop, structure.step))
    if isinstance(structure, float | complex):
        return type(structure), repr(structure)  # 0.0 is not -0.0, NaN is itself
    if isinstance(structure, np.ndarray):
        raise TypeError("arrays are not compared")
    return type(structure), structure


def _is_whole(view: Value) -> bool:
    """Return whether a view is its whole base, unchanged."""
    base = view.base
    return base is not None and view.offset == 0 and _layout(view) == _layout(base)


def _layout(value: Value) -> Any:
    return value.shape, value.strides, value.dtype


def _is_same(step: Step) -> bool:
    """Return whether a view of the whole is what it is a view of."""
    source, view = step.args[0], step.outputs[0]
    if not isinstance(source, Value) or view.base is None:
        return False
    return _layout(source) == _layout(view) and view.offset == source.offset


def _is_real(step: Step) -> bool:
    """Return whether a step hands on real numbers, in the layout that they have."""
    source = step.args[0]
    if not isinstance(source, Value) or step.kwargs:
        return False
    return source.dtype.kind != "c" and source.strides == step.outputs[0].strides


NO_OPS: Final[dict[str, Callable[[Step], bool]]] = {
    "np.conjugate": _is_real,
    "array.real": _is_real,
    "array.reshape": _is_same,
    "array.transpose": _is_same,
    "array.broadcast_to": _is_same,
    "array.getitem": _is_same,
    "array.as_strided": _is_same,
    "array.view": _is_same,
    "kernels.alias": _is_same,
}
"""Functions that may hand on their argument, and when they do."""

PASSES: Final[tuple[Callable[[Program], Program], ...]] = (
    drop_dead_steps,
    fold_constants,
    merge_equal_constants,
    drop_no_ops,
    drop_copies,
    merge_equal_steps,
    trim_loops,
    drop_dead_steps,
)

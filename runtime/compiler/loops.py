"""Loops that stay loops: one round is recorded, and becomes the body of a step `array.loop`.

The backward pass of a loop is a loop as well, over what its rounds have saved: see `LoopBackward`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from ..core.accumulate_grad import AccumulateGrad
from ..core.modes import is_grad_enabled
from ..core.node import OutputNode, next_sequence_nr
from ..core.tensor import Tensor, wrap
from .loop_backward import Backward, LoopBackward, as_value, backward_of
from .partition import is_view, needed_steps, read_by, split, with_own_outputs
from .passes import optimize
from .program import Loop, Program, Step, Value
from .steps import IMPURE
from .tape import Round, Tape

Array: TypeAlias = np.ndarray[Any, Any]
Body = Callable[[list[Tensor], list[Tensor]], tuple[list[Tensor], list[Tensor]]]
"""A round: from the leaves of the state and of a row to those of the next state and the result."""

UNROLLED_MAX: Final = 4
"""Rounds up to which a loop is as many copies of its body, which share loops in C."""

CHEAP: Final = frozenset(
    {
        *("np.add", "np.subtract", "np.multiply", "np.negative", "np.square", "np.where"),
        *("np.concatenate", "np.stack", "array.astype", "array.copy", "array.reshape"),
        *("array.fill", "array.overwrite"),
    }
)
"""Functions whose results a backward round computes again, which takes less than to keep them."""


class UnrollError(Exception):
    """A loop that has to be unrolled."""


@dataclass
class Traced:
    """A round on recorders, and its backward pass."""

    round: Round
    states: list[Value]
    rows: list[Value]
    outputs: list[Value]
    """The next states, and the results."""
    arrays: list[Array]
    """Examples of them."""
    differentiable: list[bool]
    """Flags of those that require grad."""
    needs: list[bool]
    """Flags of the states that require grad."""
    backward: Backward | None


def recorded(
    tape: Tape,
    body: Body,
    init: Sequence[Tensor],
    xs: Sequence[Tensor],
    length: int,
    is_reversed: bool,
    unrolled: Callable[[], tuple[list[Tensor], list[Tensor]]],
) -> tuple[list[Tensor], list[Tensor]]:
    """Return the last states and the stacked results of a loop, which becomes a step of a tape.

    `unrolled` computes the same round by round: it is what a gradient of a gradient is taken of.
    `UnrollError` where a round does what can only be recorded round by round.
    """
    traced = _traced(tape, body, init, xs)
    closed, steps = _hoisted(tape, traced)
    forward, backward = _programs(tape, traced, steps, closed)
    count = len(init)
    loop = Loop(forward.body, length, count, len(xs), is_reversed)
    states = [as_value(tape, tensor.array) for tensor in init]
    rows = [as_value(tape, tensor.array) for tensor in xs]
    made = [np.array(each, order="C") for each in traced.arrays[:count]]
    made += [_stacked(value, length) for value in forward.body.outputs[count:]]
    found = tape.record("array.loop", (loop, tuple(states), tuple(rows), forward.others), made)
    tensors = [wrap(each) for each in found[: len(traced.outputs)]]
    results = [t for t, is_one in zip(tensors, traced.differentiable, strict=True) if is_one]
    if traced.backward is not None and backward is not None and results:
        stacked = [tape.value_of(each) for each in found[count:]]
        node = LoopBackward(
            tape,
            Loop(backward.body, length, backward.states, backward.rows, not is_reversed),
            traced.backward,
            saved=backward.given(stacked, rows),
            others=backward.others,
            needs=traced.needs,
            differentiable=traced.differentiable,
            edges=_edges(traced, init, xs),
            unrolled=unrolled,
        )
        for nr, tensor in enumerate(results):
            tensor.grad_node = OutputNode(node, nr) if node.has_several_outputs else node
    return tensors[:count], tensors[count:]


def recorded_while(
    tape: Tape, body: Callable[[list[Tensor]], list[Tensor]], init: Sequence[Tensor]
) -> list[Tensor]:
    """Return the last states of a loop that runs while the first state is true.

    `UnrollError` where a state requires grad: how many rounds there are to go back is not known.
    """
    traced = _traced(tape, lambda states, _: (body(states), []), init, ())
    if traced.backward is not None or any(traced.needs):
        raise UnrollError
    closed, steps = _hoisted(tape, traced)
    forward, _ = _programs(tape, traced, steps, closed)
    loop = Loop(forward.body, None, len(init), 0)
    states = tuple(as_value(tape, tensor.array) for tensor in init)
    made = [np.array(each, order="C") for each in traced.arrays]
    return [wrap(v) for v in tape.record("array.loop", (loop, states, (), forward.others), made)]


def _edges(traced: Traced, init: Sequence[Tensor], xs: Sequence[Tensor]) -> list[Any]:
    assert traced.backward is not None
    states = [tensor.grad_node for tensor, is_one in zip(init, traced.needs, strict=True) if is_one]
    rows = [tensor.grad_node for tensor in xs if tensor.grad_node is not None]
    return [*states, *rows, *traced.backward.edges]


# ---- one round


def _traced(tape: Tape, body: Body, init: Sequence[Tensor], xs: Sequence[Tensor]) -> Traced:
    """Record a round until it is known which states require grad."""
    records = is_grad_enabled()
    needs = [records and tensor.grad_node is not None for tensor in init]
    while True:
        with tape.round() as record:
            start = next_sequence_nr()
            states = [_stand_in(tape, t.array, need) for t, need in zip(init, needs, strict=True)]
            rows = [_stand_in(tape, t.array[0], records and t.grad_node is not None) for t in xs]
            inputs = [tape.value_of(t.array) for t in (*states, *rows)]
            news, results = body(states, rows)
            if not all(isinstance(leaf, Tensor) for leaf in (*news, *results)):
                raise UnrollError
            pairs = zip(needs, news, strict=True)
            then = [need or new.grad_node is not None for need, new in pairs]
            if then == needs:
                outputs = [*news, *results]
                values = [tape.value_of(t.array) for t in outputs]
                differentiable = [t.grad_node is not None for t in outputs]
                arrays = [_plain(t.array) for t in outputs]
                backward = backward_of(tape, start, states, rows, outputs, len(news))
                break
        needs = then
    if any(step.function in IMPURE for step in record.steps):
        raise UnrollError
    count = len(states)
    return Traced(
        *(record, inputs[:count], inputs[count:], values, arrays, differentiable, needs, backward)
    )


def _stand_in(tape: Tape, array: Array, requires_grad: bool) -> Tensor:
    tensor = wrap(tape.stand_in(_plain(array)))
    if requires_grad:
        tensor.grad_node = AccumulateGrad(tensor)
    return tensor


def _plain(array: Any) -> Array:
    return np.asarray(array.plain() if hasattr(array, "plain") else array)


def _hoisted(tape: Tape, traced: Traced) -> tuple[list[Value], list[Step]]:
    """Take steps that are the same in all rounds out of the loop: they become steps of the tape.

    Return the values from outside that the rounds read, and the steps that are left.
    """
    constants = {value for value, _ in tape.constants.values()}
    changing = {*traced.states, *traced.rows}
    if traced.backward is not None:
        changing.update(traced.backward.cotangents)
    made = {value for step in traced.round.steps for value in step.outputs}
    same: list[Step] = []
    left: list[Step] = []
    of_constants = set(constants)
    for step in traced.round.steps:
        if not changing.isdisjoint(step.inputs):
            changing.update(step.outputs)
            left.append(step)
        elif of_constants.issuperset(step.inputs):
            of_constants.update(step.outputs)
            same.append(step)
            left.append(step)  # the body computes it once, as its own constant
        else:
            same.append(step)
    wanted = [*read_by(left), *traced.outputs]
    if traced.backward is not None:
        wanted += [value for value in traced.backward.grads if value is not None]
    kept = {value for step in left for value in step.outputs}
    outside = [value for value in wanted if value not in kept | constants | changing]
    closed = list(dict.fromkeys(outside))
    tape.steps += needed_steps(same, [value for value in closed if value in made])
    return closed, left


# ---- its programs


@dataclass
class Part:
    """The body of one of the two loops, and what it takes from outside."""

    body: Program
    others: tuple[Value, ...]
    states: int = 0
    rows: int = 0
    sources: tuple[tuple[str, int], ...] = ()
    """Rows that it goes through: `row` or `stacked`, and its number among those that the loop
    takes, or among its results.
    """

    def given(self, stacked: Sequence[Value], rows: Sequence[Value]) -> list[Value]:
        """Return the arrays that it goes through, without the cotangents of results."""
        return [stacked[nr] if kind == "stacked" else rows[nr] for kind, nr in self.sources]


def _programs(
    tape: Tape, traced: Traced, steps: list[Step], closed: list[Value]
) -> tuple[Part, Part | None]:
    """Return the body of the loop, with what it saves among its results, and the backward one."""
    backward = traced.backward
    inputs = (*traced.states, *traced.rows, *closed)
    cotangents = () if backward is None else backward.cotangents
    grads = () if backward is None else backward.present
    joint = optimize(
        Program(
            (*inputs, *cotangents),
            tuple(tape.constants.values()),
            tuple(steps),
            (*traced.outputs, *grads),
        )
    )
    count = len(traced.outputs)
    results, grads = joint.outputs[:count], joint.outputs[count:]
    base = Program(inputs, joint.constants, joint.steps, results)
    first, second, needed = split(base, cotangents, grads, _is_repeated)
    known = {*traced.rows, *closed, *results[len(traced.states) :]}
    kept = [value for value in needed if value not in known]
    others = _closed(first, closed)
    fresh = Program(
        (*traced.states, *traced.rows, *others),
        joint.constants,
        first.steps,
        (*results, *kept),
    )
    forward = Part(_tidy(fresh), others)
    if backward is None:
        return forward, None
    places = {value: ("row", nr) for nr, value in enumerate(traced.rows)}
    stacked = (*results[len(traced.states) :], *kept)
    places |= {value: ("stacked", nr) for nr, value in enumerate(stacked)}
    rows = [value for value in needed if value not in closed]
    sources = tuple(places[value] for value in rows)
    return forward, _backward_part(tape, traced, second, rows, sources)


def _backward_part(
    tape: Tape,
    traced: Traced,
    program: Program,
    rows: list[Value],
    sources: tuple[tuple[str, int], ...],
) -> Part:
    """Return the body of the backward loop.

    Its states are the cotangents of the states, and the sums of the gradients by what the rounds
    read from outside; it goes through saved values and the cotangents of results.
    """
    backward = traced.backward
    assert backward is not None
    grads = iter(program.outputs)
    found = [None if value is None else next(grads) for value in backward.grads]
    count, states = len(rows), sum(traced.needs)
    row_count = len(found) - states - len(backward.edges)
    of_states, of_rows = found[:states], found[states : states + row_count]
    arriving, nexts = [], []
    state_cotangents = backward.state_cotangents(traced.needs, traced.differentiable)
    zeros: list[tuple[Value, Array]] = []

    def zero_like(value: Value) -> Value:
        array = np.zeros(value.shape, value.dtype)
        made = tape.named("c", array)
        zeros.append((made, array))
        return made

    needed = [v for v, need in zip(traced.states, traced.needs, strict=True) if need]
    for state, cotangent, grad in zip(needed, state_cotangents, of_states, strict=True):
        arriving.append(tape.named("x", _like(state)) if cotangent is None else cotangent)
        nexts.append(zero_like(state) if grad is None else grad)
    steps = list(program.steps)
    for grad in found[states + row_count :]:
        if grad is not None:
            before, after = (tape.named(letter, _like(grad)) for letter in "xv")
            steps.append(Step("np.add", (before, grad), {}, (after,)))
            arriving.append(before)
            nexts.append(after)
    by_rows = [value for value in of_rows if value is not None]
    given = backward.result_cotangents(traced.differentiable, len(traced.states))
    known = {*rows, *backward.cotangents}
    others = tuple(value for value in program.inputs if value not in known)
    body = Program(
        (*arriving, *rows, *given, *others),
        (*program.constants, *zeros),
        tuple(steps),
        (*nexts, *by_rows),
    )
    return Part(_tidy(body), others, len(arriving), count + len(given), sources)


def _is_repeated(step: Step) -> bool:
    return is_view(step) or step.function in CHEAP


def _closed(program: Program, closed: Sequence[Value]) -> tuple[Value, ...]:
    used = {*read_by(program.steps), *program.outputs}
    return tuple(value for value in closed if value in used)


def _like(value: Value) -> Array:
    return np.empty(value.shape, value.dtype)


def _stacked(value: Value, length: int) -> Array:
    return np.ones((length, *value.shape), value.dtype)


def _tidy(program: Program) -> Program:
    """Return a program whose outputs lie in a row in memory of their own."""
    program = with_own_outputs(program)
    steps, outputs = list(program.steps), []
    for value in program.outputs:
        if value.base is not None or not value.is_contiguous:
            made = Value(f"row_{value.name}", value.shape, value.dtype, _like(value).strides)
            steps.append(Step("array.copy", (value, "C"), {}, (made,)))
            value = made
        outputs.append(value)
    used = {*read_by(steps), *outputs}
    constants = tuple(pair for pair in program.constants if pair[0] in used)
    return Program(program.inputs, constants, tuple(steps), tuple(outputs))

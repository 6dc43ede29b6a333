"""A captured function, ready to run: programs forward and backward, and how results are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.tensor import Tensor
from .backends import Backend
from .joint import Trace
from .partition import root_of, split, with_own_outputs
from .passes import optimize
from .program import Program, Value

Run = Callable[..., Sequence[Any]]


@dataclass
class Gradients:
    """The backward program for one choice of the results that get a cotangent."""

    program: Program
    saved: tuple[int, ...]
    """Indices of the saved values that it takes, in order; the cotangents follow."""
    places: tuple[int, ...]
    """For each gradient that it returns, the position among the inputs that require grad."""
    run: Run | None = None


@dataclass
class Executable:
    """The programs of one signature."""

    trace: Trace
    forward: Program
    run: Run
    saved: tuple[Value, ...]
    saved_inputs: tuple[tuple[int, int], ...]
    """Saved values that lie on inputs: positions of the saved value and of the input."""
    saved_results: tuple[int, ...]
    """Results on whose memory saved values lie."""
    gradients: dict[tuple[int, ...], Gradients]
    backend: Backend

    def __post_init__(self) -> None:
        places = {value: nr for nr, value in enumerate(self.forward.inputs)}
        self.written = tuple(places[value] for value, _ in self.forward.writes)
        """The positions of the inputs that are written to."""
        is_random = any(step.function == "array.draw" for step in self.forward.steps)
        self.is_repeatable = not self.written and not is_random
        """True if the function may be called again on the same arguments."""
        known = self.trace
        replaced = {*(nr for nr, _ in known.new_grads), *known.cleared_grads}
        self.freed_grads = tuple(sorted(replaced - set(known.read_grads)))
        """The tensors whose `grad` is let go of before the program runs, as it reads none of it."""

    def gradients_of(self, roots: tuple[int, ...]) -> Gradients | None:
        """Return the backward program for cotangents of some results; it is built at first."""
        found = self.gradients.get(roots)
        if found is not None and found.run is None:
            found.run = self.backend.build(found.program)
        return found


def make(trace: Trace, backend: Backend) -> Executable:
    """Optimise a trace, split it, and build its forward program."""
    joint = _joint(trace)
    count = len(trace.program.outputs)
    results, grads = joint.outputs[:count], iter(joint.outputs[count:])
    cotangents = dict(zip(_cotangents(trace), joint.inputs[len(trace.inputs) :], strict=True))
    base = with_own_outputs(
        replace(joint, outputs=results, inputs=joint.inputs[: len(trace.inputs)])
    )
    forward: Program | None = None
    saved: tuple[Value, ...] = ()
    gradients: dict[tuple[int, ...], Gradients] = {}
    for backward in trace.backwards:
        places = tuple(nr for nr, value in enumerate(backward.grads) if value is not None)
        wanted = [next(grads) for _ in places]
        given = [cotangents[value] for value in backward.cotangents]
        first, second, needed = split(base, given, wanted)
        if forward is None:
            forward, saved = first, needed
        if set(needed) <= set(saved):
            at = tuple(saved.index(value) for value in needed)
            second = with_own_outputs(second)
            gradients[backward.roots] = Gradients(second, at, places)
    if forward is None:
        forward, _, saved = split(base, (), ())
    return Executable(
        trace,
        forward,
        backend.build(forward),
        saved,
        _on(saved, forward.inputs),
        _aliased(saved, forward.outputs[: trace.result_count]),
        gradients,
        backend,
    )


def _joint(trace: Trace) -> Program:
    """The program with the gradients of all patterns among its outputs, optimised."""
    grads = [g for backward in trace.backwards for g in backward.grads if g is not None]
    return optimize(
        replace(
            trace.program,
            inputs=(*trace.inputs, *_cotangents(trace)),
            outputs=(*trace.program.outputs, *grads),
        )
    )


def _cotangents(trace: Trace) -> list[Value]:
    return list(dict.fromkeys(v for backward in trace.backwards for v in backward.cotangents))


def _on(saved: Sequence[Value], inputs: Sequence[Value]) -> tuple[tuple[int, int], ...]:
    places = {value: nr for nr, value in enumerate(inputs)}
    return tuple(
        (nr, places[root_of(value)]) for nr, value in enumerate(saved) if root_of(value) in places
    )


def _aliased(saved: Sequence[Value], results: Sequence[Value]) -> tuple[int, ...]:
    roots = {root_of(value) for value in saved}
    return tuple(nr for nr, value in enumerate(results) if root_of(value) in roots)


def overlapping(tensors: Sequence[Tensor]) -> bool:
    """Return whether two tensors lie on the same memory."""
    from numpy import may_share_memory

    return any(
        may_share_memory(a.array, b.array)
        for nr, a in enumerate(tensors)
        for b in tensors[nr + 1 :]
    )

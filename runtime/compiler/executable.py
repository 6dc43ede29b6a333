"""A captured function, ready to run: programs forward and backward, and how results are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..core.tensor import Tensor
from .backends import Backend
from .joint import Backward, Trace
from .partition import root_of, split, with_own_outputs
from .passes import optimize
from .program import Program, Value

if TYPE_CHECKING:
    from .c.plans import Plans

Run = Callable[..., Sequence[Any]]


@dataclass
class Gradients:
    """The backward program for one choice of the results that get a cotangent."""

    saved: tuple[int, ...]
    """Indices of the saved values that it takes, in order; the cotangents follow."""
    cotangents: tuple[Value, ...]
    """Their layouts."""
    places: tuple[int, ...]
    """For each gradient that it returns, the position among the inputs that require grad."""
    run: Run | None = None


@dataclass
class Parts:
    """A joint program, optimised and divided."""

    forward: Program
    saved: tuple[Value, ...]
    gradients: dict[tuple[int, ...], Program]
    """The backward programs, by the results that get a cotangent."""
    taken: dict[tuple[int, ...], tuple[int, ...]]
    """Indices of the saved values that each of them takes."""


@dataclass(frozen=True)
class Outline:
    """Summary of a program: what a call of it needs besides the trace and what was built."""

    has_steps: bool
    is_random: bool
    saved_inputs: tuple[tuple[int, int], ...]
    """Saved values that lie on inputs: positions of the saved value and of the input."""
    saved_results: tuple[int, ...]
    """Results on whose memory saved values lie."""
    taken: dict[tuple[int, ...], tuple[int, ...]]
    """Indices of the saved values that each backward program takes, by its results."""


class Executable:
    """The programs of one signature."""

    def __init__(
        self,
        trace: Trace,
        backend: Backend,
        outline: Outline,
        run: Run,
        plans: Plans | None,
        parts: Parts | None = None,
    ) -> None:
        self.trace = trace
        self.backend = backend
        self.outline = outline
        self.run = run
        self._plans = plans
        self._parts = parts
        places = {value: nr for nr, value in enumerate(trace.inputs)}
        self.written = tuple(places[value] for value, _ in trace.program.writes)
        """The positions of the inputs that are written to."""
        self.is_repeatable = not self.written and not outline.is_random
        """True if the function may be called again on the same arguments."""
        replaced = {*(nr for nr, _ in trace.new_grads), *trace.cleared_grads}
        self.freed_grads = tuple(sorted(replaced - set(trace.read_grads)))
        """The tensors whose `grad` is let go of before the program runs, as it reads none of it."""
        self.gradients = {
            backward.roots: Gradients(
                outline.taken[backward.roots], backward.cotangents, _places(backward)
            )
            for backward in trace.backwards
            if backward.roots in outline.taken
        }

    @property
    def parts(self) -> Parts:
        """The programs, which are made again where an earlier process has built them."""
        if self._parts is None:
            self._parts = divided(self.trace)
        return self._parts

    @property
    def forward(self) -> Program:
        """The program of a call."""
        return self.parts.forward

    def gradients_of(self, roots: tuple[int, ...]) -> Gradients | None:
        """Return the backward program for cotangents of some results; it is built at first."""
        found = self.gradients.get(roots)
        if found is None or found.run is not None:
            return found
        name = f"backward {roots}"
        known = None if self._plans is None else self._plans.found(name, bool)
        if known is not None:
            found.run = known[0]
        else:
            keep = None if self._plans is None else self._plans.keeper(name)
            found.run = self.backend.build(self.parts.gradients[roots], keep)
        return found


def make(trace: Trace, backend: Backend) -> Executable:
    """Return the programs of a trace: those that an earlier process has made, or new ones."""
    plans = backend.plans_of(trace)
    known = None if plans is None else plans.found("forward", _outline_of_plain)
    if known is not None:
        run, outline = known
        return Executable(trace, backend, outline, run, plans)
    backend.begin()
    parts = divided(trace)
    outline = _outline(trace, parts)
    keep = None if plans is None else plans.keeper("forward", _outline_as_plain(outline))
    run = backend.build(parts.forward, keep)
    return Executable(trace, backend, outline, run, plans, parts)


def divided(trace: Trace) -> Parts:
    """Optimise a trace, and split it."""
    joint = _joint(trace)
    count = len(trace.program.outputs)
    results, grads = joint.outputs[:count], iter(joint.outputs[count:])
    cotangents = dict(zip(_cotangents(trace), joint.inputs[len(trace.inputs) :], strict=True))
    base = with_own_outputs(
        replace(joint, outputs=results, inputs=joint.inputs[: len(trace.inputs)])
    )
    parts: Parts | None = None
    for backward in trace.backwards:
        wanted = [next(grads) for _ in _places(backward)]
        given = [cotangents[value] for value in backward.cotangents]
        first, second, needed = split(base, given, wanted)
        if parts is None:
            parts = Parts(first, needed, {}, {})
        if set(needed) <= set(parts.saved):
            parts.taken[backward.roots] = tuple(parts.saved.index(value) for value in needed)
            parts.gradients[backward.roots] = with_own_outputs(second)
    if parts is None:
        forward, _, saved = split(base, (), ())
        parts = Parts(forward, saved, {}, {})
    return parts


def _outline(trace: Trace, parts: Parts) -> Outline:
    forward, saved = parts.forward, parts.saved
    return Outline(
        bool(forward.steps),
        any(step.function == "array.draw" for step in forward.steps),
        _on(saved, forward.inputs),
        _aliased(saved, forward.outputs[: trace.result_count]),
        parts.taken,
    )


def _outline_as_plain(outline: Outline) -> Any:
    return (
        *(outline.has_steps, outline.is_random, outline.saved_inputs, outline.saved_results),
        list(outline.taken.items()),
    )


def _outline_of_plain(plain: Any) -> Outline:
    has_steps, is_random, inputs, results, taken = plain
    pairs = tuple((first, second) for first, second in inputs)
    by_roots = {tuple(roots): tuple(indices) for roots, indices in taken}
    return Outline(has_steps, is_random, pairs, tuple(results), by_roots)


def _places(backward: Backward) -> tuple[int, ...]:
    return tuple(nr for nr, value in enumerate(backward.grads) if value is not None)


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

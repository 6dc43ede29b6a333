"""`LoopBackward`: the node of what a loop of a program returns, whose gradient is a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..autograd.edges import GradientEdge
from ..autograd.run_backward import run_backward
from ..core.modes import enable_grad
from ..core.node import Node, freed_graph, next_sequence_nr, place_of
from ..core.tensor import Tensor, wrap
from .program import Loop, Value
from .recorder import Recorder
from .tape import Tape

Array: TypeAlias = np.ndarray[Any, Any]


class _End(Node):
    """A node in place of one from outside of a round: there its backward pass ends."""

    __slots__ = ()

    def __init__(self) -> None:
        self.next_nodes = ()
        self.hooks = None
        self.sequence_nr = 0

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[()]:
        """Let the gradient go nowhere: it is captured here."""
        return ()

    apply_differentiable = apply


@dataclass
class Backward:
    """The backward pass of a round, as values."""

    cotangents: tuple[Value, ...]
    """Numbers of the next states and results that require grad, in order."""
    grads: tuple[Value | None, ...]
    """Numbers of the states and of the rows that require grad, and of `edges`."""
    edges: tuple[Node, ...]
    """Destinations of other gradients: values that the round reads from outside."""

    @property
    def present(self) -> tuple[Value, ...]:
        """The gradients that there are."""
        return tuple(value for value in self.grads if value is not None)

    def state_cotangents(
        self, needs: Sequence[bool], differentiable: Sequence[bool]
    ) -> list[Value | None]:
        """Return the cotangent of each next state, if it has one, of a state that requires grad."""
        left = iter(self.cotangents)
        found = [next(left) if is_one else None for is_one in differentiable[: len(needs)]]
        return [each for each, need in zip(found, needs, strict=True) if need]

    def result_cotangents(self, differentiable: Sequence[bool], states: int) -> tuple[Value, ...]:
        """Return the cotangents of results."""
        return self.cotangents[sum(differentiable[:states]) :]


def backward_of(
    tape: Tape,
    start: int,
    states: Sequence[Tensor],
    rows: Sequence[Tensor],
    outputs: Sequence[Tensor],
    count: int,
) -> Backward | None:
    """Run the engine back through a round that began at the node of number `start`."""
    roots = [tensor for tensor in outputs if tensor.grad_node is not None]
    if not roots:
        return None
    own = [t for t in (*states, *rows) if t.grad_node is not None]
    found_cut = _cut([t.grad_node for t in roots], start, [t.grad_node for t in own])
    cotangents = [tape.stand_in(np.ones_like(_plain(t.array))) for t in roots]
    with enable_grad():
        found = run_backward(
            _ending_at(roots, found_cut.roots),
            [wrap(each) for each in cotangents],
            keep_graph=False,
            create_graph=False,
            inputs=[*own, *(GradientEdge(end, 0) for end in found_cut.ends)],
            allow_unreachable=True,
        )
    values = [None if grad is None else tape.value_of(grad.array) for grad in found]
    given = tuple(tape.value_of(each) for each in cotangents)
    return Backward(given, tuple(values), tuple(found_cut.edges.values()))


@dataclass
class _Cut:
    """A part of the graph that leads nowhere else."""

    roots: list[Node]
    """Its roots, which may be ends themselves."""
    edges: dict[tuple[Node, int], Node]
    """Nodes that it led to, each once."""
    ends: list[_End]
    """Replacement that stands there."""
    before: dict[Node, tuple[Node | None, ...]]
    """Former next nodes of each of its nodes."""

    def undo(self) -> None:
        """Let the nodes lead where they did."""
        for node, next_nodes in self.before.items():
            node.next_nodes = next_nodes


def _cut(roots: Sequence[Any], start: int, own: Sequence[Any]) -> _Cut:
    """Let the nodes since `start`, and `own` leaves, lead to none before it."""
    edges: dict[tuple[Node, int], Node] = {}
    ends: dict[tuple[Node, int], _End] = {}
    kept = {id(node) for node in own}

    def cut(node: Node) -> Node:
        place = place_of(node)
        target = place[0]
        if id(target) in kept or (not target.is_leaf and target.sequence_nr > start):
            return node
        edges.setdefault(place, node)
        return ends.setdefault(place, _End())

    nodes = [cut(node) for node in roots]
    ahead = [place_of(node)[0] for node in nodes]
    before: dict[Node, tuple[Node | None, ...]] = {}
    while ahead:
        node = ahead.pop()
        if node in before or id(node) in kept or isinstance(node, _End):
            continue
        before[node] = node.next_nodes
        node.next_nodes = tuple(None if each is None else cut(each) for each in node.next_nodes)
        ahead += [place_of(each)[0] for each in node.next_nodes if each is not None]
    return _Cut(nodes, edges, list(ends.values()), before)


def _ending_at(tensors: Sequence[Tensor], nodes: Sequence[Node]) -> list[Tensor]:
    """Return the same arrays as tensors of other nodes."""
    found = []
    for tensor, node in zip(tensors, nodes, strict=True):
        end = wrap(tensor.array)
        end.grad_node = node
        found.append(end)
    return found


def _plain(array: Any) -> Array:
    return array.plain() if isinstance(array, Recorder) else array


def as_value(tape: Tape, array: Any) -> Value:
    """Return the value of an array, or of a contiguous copy."""
    if not array.flags.c_contiguous:
        array = (
            tape.call("array.copy", (array, "C"))
            if isinstance(array, Recorder)
            else (np.ascontiguousarray(array))
        )
    return tape.value_of(array)


class LoopBackward(Node):
    """The node of all results of a loop: its backward pass goes through the rounds in reverse."""

    __slots__ = (
        *("_tape", "_loop", "_backward", "_saved", "_others", "_needs", "_differentiable"),
        *("_count", "_is_freed", "_unrolled", "has_several_outputs", "output_count"),
    )

    def __init__(
        self,
        tape: Tape,
        loop: Loop,
        backward: Backward,
        *,
        saved: Sequence[Value],
        others: Sequence[Value],
        needs: Sequence[bool],
        differentiable: Sequence[bool],
        edges: Sequence[Node | None],
        unrolled: Callable[[], tuple[list[Tensor], list[Tensor]]],
    ) -> None:
        self._tape = tape
        self._loop = loop
        self._backward = backward
        self._saved = saved
        self._others = others
        self._needs = needs
        self._differentiable = differentiable
        self._count = len(needs)
        self._unrolled = unrolled
        self._is_freed = False
        self.next_nodes = tuple(edges)
        self.output_count = sum(differentiable)
        self.has_several_outputs = self.output_count > 1
        self.hooks = None
        self.sequence_nr = next_sequence_nr()

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """Record the loop back through the rounds."""
        if self._is_freed:
            raise freed_graph()
        tape, loop = self._tape, self._loop
        assert loop.length is not None
        arrived = iter(grad if self.has_several_outputs else [grad])
        by_output = [next(arrived) if is_one else None for is_one in self._differentiable]
        inputs = loop.body.inputs
        first = [
            self._cotangent(by_output[nr], inputs[at].shape, inputs[at].dtype)
            for at, nr in enumerate(nr for nr in range(self._count) if self._needs[nr])
        ]
        sums = [
            tape.constant(np.full(value.shape, -0.0, value.dtype))
            for value in inputs[len(first) : loop.states]
        ]
        begin = loop.states + len(self._saved)
        given = [
            self._cotangent(by_output[nr], (loop.length, *inputs[at].shape), inputs[at].dtype)
            for at, nr in enumerate(
                (nr for nr in range(self._count, len(by_output)) if self._differentiable[nr]), begin
            )
        ]
        rows = (*self._saved, *given)
        outputs = loop.body.outputs
        made = [np.ones(value.shape, value.dtype) for value in outputs[: loop.states]]
        made += [np.ones((loop.length, *v.shape), v.dtype) for v in outputs[loop.states :]]
        found = tape.record("array.loop", (loop, (*first, *sums), rows, self._others), made)
        return self._in_order(found, len(first))

    def _in_order(self, found: list[Recorder], states: int) -> tuple[Any, ...]:
        """Return the gradients in the order of the edges: the loop has sums before rows."""
        grads = self._backward.grads
        sums = iter(found[states : self._loop.states])
        rows = iter(found[self._loop.states :])
        row_count = len(grads) - states - len(self._backward.edges)
        by_rows = [None if g is None else next(rows) for g in grads[states : states + row_count]]
        by_edges = [None if g is None else next(sums) for g in grads[states + row_count :]]
        return (*found[:states], *by_rows, *by_edges)

    def _cotangent(self, arrived: Any, shape: tuple[int, ...], dtype: Any) -> Value:
        if arrived is None:
            return self._tape.constant(np.zeros(shape, dtype))
        if arrived.dtype != dtype:
            arrived = arrived.astype(dtype)
        return as_value(self._tape, arrived)

    def apply_differentiable(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """Go back through the rounds one by one, recorded."""
        if self._is_freed:
            raise freed_graph()
        arrived = iter(grad if self.has_several_outputs else [grad])
        start = next_sequence_nr()
        with enable_grad():
            states, results = self._unrolled()
            outputs = [*states, *results]
            pairs = zip(outputs, self._differentiable, strict=True)
            ends = [(t, next(arrived)) for t, is_one in pairs if is_one]
            chosen = [(t, cotangent) for t, cotangent in ends if cotangent is not None]
            cut = _cut([t.grad_node for t, _ in chosen], start, [])
            try:
                found = run_backward(
                    _ending_at([t for t, _ in chosen], cut.roots),
                    [cotangent for _, cotangent in chosen],
                    keep_graph=True,
                    create_graph=True,
                    inputs=[GradientEdge(end, 0) for end in cut.ends],
                    allow_unreachable=True,
                )
            finally:
                cut.undo()
        by_place = dict(zip(cut.edges, found, strict=True))
        return tuple(
            None if node is None else by_place.pop(place_of(node), None) for node in self.next_nodes
        )

    def release(self) -> None:
        """Let it not be run again."""
        self._is_freed = True

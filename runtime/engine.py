"""The backward pass: visits the nodes of a graph, most recent first, and carries gradients.

No recursion anywhere: the graph may be millions of nodes deep. All state of a pass is local, so
passes may nest and run in several threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from heapq import heapify, heappop, heappush, heapreplace
from itertools import count
from typing import Final

import numpy as np

from .anomaly import explain, is_anomaly_enabled
from .forward_mode import current_level
from .hook_calls import Gradient, as_tensor, call_node_hooks, call_tensor_hooks
from .modes import enable_grad, no_grad
from .node import Node, OutputEdge
from .reentrant import run_nested
from .tensor import Tensor

_next_number: Final[Callable[[], int]] = count().__next__


class _Running(threading.local):
    """The passes of one thread, innermost last."""

    def __init__(self) -> None:
        self.passes: list[_Pass] = []


_running: Final = _Running()


def current_pass() -> _Pass | None:
    """The innermost backward pass that is running in this thread."""
    return _running.passes[-1] if _running.passes else None


def current_pass_number() -> int:
    """A number that only the current pass has; -1 outside of any."""
    running = current_pass()
    return -1 if running is None else running.number


class _Pass:
    """One backward pass: dependency counts, and the gradients that have arrived so far."""

    __slots__ = (
        "__weakref__",
        "buffers",
        "create_graph",
        "dependencies",
        "needed",
        "number",
        "on_tensors",
        "owned",
        "targets",
    )

    def __init__(
        self, roots: Sequence[Node], targets: Sequence[Node] | None, create_graph: bool
    ) -> None:
        self.create_graph = create_graph
        self.on_tensors = create_graph or current_level() is not None
        """Whether gradients are tensors, because ops on them are recorded or carry tangents."""
        self.number = _next_number()
        self.buffers: dict[Node, Gradient] = {}
        self.owned: set[Node] = set()
        """Vertices whose buffer is a sum made here, so that more can be added in place."""
        self.targets = None if targets is None else dict.fromkeys(targets)
        """The vertices whose gradient is wanted, each with what arrived; None: every leaf."""
        self.dependencies = _count_dependencies(roots)
        self.needed = None if targets is None else _leading_to(targets, self.dependencies)

    def add(self, vertex: Node, grad: Gradient) -> None:
        """A gradient arrives at `vertex`."""
        before = self.buffers.get(vertex)
        if before is None:
            self.buffers[vertex] = grad
        elif self.on_tensors or type(before) is not type(grad):
            self.buffers[vertex] = before + grad
        elif vertex in self.owned and before.dtype is grad.dtype:
            self.buffers[vertex] += grad
        else:
            # asanyarray: NumPy turns the sum of two 0-dim arrays into a scalar.
            self.buffers[vertex] = np.asanyarray(before + grad)
            self.owned.add(vertex)

    def visited(self) -> Iterable[Node]:
        """The vertices that run in this pass."""
        return self.dependencies if self.needed is None else self.needed & self.dependencies.keys()

    def runs(self) -> set[Node] | None:
        """The vertices whose VJP is computed, if not all: a target that leads to no other is not.

        Those keep what they saved, for another pass.
        """
        if self.needed is None:
            return None
        return {vertex for vertex in self.visited() if any(self.needs(vertex))}

    def needs(self, node: Node) -> Sequence[object]:
        """What `node.apply` is asked for."""
        if self.needed is None:
            return node.edges
        return [edge is not None and edge in self.needed for edge in node.edges]


def _count_dependencies(roots: Sequence[Node]) -> dict[Node, int]:
    """How many edges lead to each vertex below the roots."""
    dependencies = dict.fromkeys(roots, 0)
    stack = list(dependencies)
    while stack:
        for edge in stack.pop().edges:
            if edge is None:
                continue
            if edge in dependencies:
                dependencies[edge] += 1
            else:
                dependencies[edge] = 1
                stack.append(edge)
    return dependencies


def _leading_to(targets: Sequence[Node], vertices: Iterable[Node]) -> set[Node]:
    """The vertices from which a target can be reached: the only ones that have to run."""
    consumers: dict[Node, list[Node]] = {}
    for vertex in vertices:
        for edge in vertex.edges:
            if edge is not None:
                consumers.setdefault(edge, []).append(vertex)
    found = set(targets)
    stack = list(found)
    while stack:
        for consumer in consumers.get(stack.pop(), ()):
            if consumer not in found:
                found.add(consumer)
                stack.append(consumer)
    return found


def run_backward(
    roots: Sequence[tuple[Node, Tensor]],
    *,
    keep_graph: bool,
    create_graph: bool,
    targets: Sequence[Node] | None = None,
) -> list[Tensor | None]:
    """Carry the gradients of `roots` through the graph.

    Without `targets` they are added to the `grad` of every leaf below. With them nothing is
    accumulated: the answer holds the gradient that arrived at each target vertex, None where
    none did.
    """
    state = _Pass([vertex for vertex, _ in roots], targets, create_graph)
    for vertex, grad in roots:
        state.add(vertex, grad if state.on_tensors else grad.array)
    run_nested(partial(_run_watched, state, keep_graph))
    if targets is None or state.targets is None:
        return []
    found = (state.targets[target] for target in targets)
    return [None if grad is None else as_tensor(grad) for grad in found]


def _run_watched(state: _Pass, keep_graph: bool) -> None:
    """Run a pass as the current one of this thread, and say which node failed if one does."""
    if is_anomaly_enabled():
        for vertex in state.dependencies:
            vertex._own_hooks()  # which takes it to where anomalies are looked for
    passes = _running.passes
    passes.append(state)
    try:
        if state.on_tensors:
            with enable_grad() if state.create_graph else no_grad():
                _run(state, keep_graph)
        else:
            # On arrays: only hooks see tensors, and they have their own mode.
            _run(state, keep_graph)
    except BaseException as error:
        explain(_run, error)
        raise
    finally:
        passes.pop()


def _run(state: _Pass, keep_graph: bool) -> None:
    """Visit every vertex once, when all that it depends on has run.

    Most vertices have one consumer and are the only one ready when it is done: such a vertex is
    `following`, with the gradient beside it, and goes through neither the queue nor the buffers.
    """
    dependencies, buffers = state.dependencies, state.buffers
    is_plain = state.targets is None and not state.on_tensors
    runs = state.runs()
    first = [vertex for vertex, waiting in dependencies.items() if not waiting]
    # Leaves and outputs of a node with several run as soon as their gradient is complete.
    at_once = [vertex for vertex in first if vertex.runs_at_once]
    ready = [(-vertex.sequence_nr, vertex) for vertex in first if not vertex.runs_at_once]
    heapify(ready)
    following: Node | None = None
    following_grad: Gradient | None = None
    while True:
        if at_once:
            vertex = at_once.pop()
            grad = buffers.pop(vertex, None)
        elif following is not None:
            vertex, grad = following, following_grad
            following = following_grad = None
            if ready and -ready[0][0] > vertex.sequence_nr:
                buffers[vertex] = grad
                vertex = heapreplace(ready, (-vertex.sequence_nr, vertex))[1]
                grad = buffers.pop(vertex, None)
        elif ready:
            vertex = heappop(ready)[1]
            grad = buffers.pop(vertex, None)
        else:
            return

        if not is_plain or vertex.hooks is not None or grad is None or type(vertex) is OutputEdge:
            grads = _visit(vertex, grad, state)
        else:
            grads = vertex.apply(grad, vertex.edges)
        if not keep_graph and (runs is None or vertex in runs):
            vertex.release()

        position = -1
        for edge in vertex.edges:
            position += 1
            if edge is None:
                continue
            arrived = grads[position]
            waiting = dependencies[edge] - 1
            if edge in buffers:
                if arrived is not None:
                    state.add(edge, arrived)
                if not waiting:
                    arrived = buffers.pop(edge)
            elif waiting and arrived is not None:
                buffers[edge] = arrived
            if waiting:
                dependencies[edge] = waiting
            elif edge.runs_at_once:
                buffers[edge] = arrived
                at_once.append(edge)
            elif following is None:
                following, following_grad = edge, arrived
            else:
                buffers[edge] = arrived
                heappush(ready, (-edge.sequence_nr, edge))


def _visit(vertex: Node, grad: Gradient | None, state: _Pass) -> Sequence[Gradient]:
    """Hooks, capture and the VJP of one vertex; one answer per edge."""
    if vertex.hooks is None or state.on_tensors:
        return _visit_in_mode(vertex, grad, state)
    with no_grad():
        return _visit_in_mode(vertex, grad, state)


def _visit_in_mode(vertex: Node, grad: Gradient | None, state: _Pass) -> Sequence[Gradient]:
    nothing = (None,) * len(vertex.edges)
    if grad is None:
        return nothing
    if vertex.hooks is not None:
        grad = call_tensor_hooks(vertex.hooks, grad, state.on_tensors)
    needs: Sequence[object] = vertex.edges
    if state.targets is not None:
        if vertex in state.targets:
            state.targets[vertex] = grad
        needs = state.needs(vertex)
        if not any(needs):
            return nothing
    if type(vertex) is OutputEdge:
        _collect(vertex, grad, state)
        return nothing
    if vertex.hooks is not None:
        return call_node_hooks(vertex, vertex.hooks, grad, needs, state.on_tensors)
    return (vertex.apply_differentiable if state.on_tensors else vertex.apply)(grad, needs)


def _collect(vertex: OutputEdge, grad: Gradient, state: _Pass) -> None:
    """Put the gradient of one output into the list that its node waits for."""
    node = vertex.node
    grads = state.buffers.setdefault(node, [None] * node.output_count)
    before = grads[vertex.output_nr]
    grads[vertex.output_nr] = grad if before is None else before + grad

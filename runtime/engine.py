"""The backward pass: visits the nodes of a graph, most recent first, and carries gradients.

No recursion anywhere: the graph may be millions of nodes deep. All state of a pass is local, so
passes may nest and run in several threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from typing import Any, TypeAlias

import numpy as np

from .modes import enable_grad, no_grad
from .node import AccumulateGrad, Node, OutputEdge
from .tensor import Tensor, wrap

Gradient: TypeAlias = Any
"""An array in an ordinary pass, a tensor under `create_graph`."""


class _Pass:
    """One backward pass: dependency counts, and the gradients that have arrived so far."""

    __slots__ = ("buffers", "create_graph", "dependencies", "needed", "owned", "targets")

    def __init__(
        self, roots: Sequence[Node], targets: Sequence[Node] | None, create_graph: bool
    ) -> None:
        self.create_graph = create_graph
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
        elif self.create_graph or type(before) is not type(grad):
            self.buffers[vertex] = before + grad
        elif vertex in self.owned and before.dtype is grad.dtype:
            self.buffers[vertex] += grad
        else:
            # asanyarray: NumPy turns the sum of two 0-dim arrays into a scalar.
            self.buffers[vertex] = np.asanyarray(before + grad)
            self.owned.add(vertex)

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
        state.add(vertex, grad if create_graph else grad.array)
    if create_graph:
        with enable_grad():
            _run(state, keep_graph)
    else:
        _run(state, keep_graph)  # on arrays: only hooks see tensors, and they have their own mode
    if targets is None or state.targets is None:
        return []
    found = (state.targets[target] for target in targets)
    return [None if grad is None else _as_tensor(grad) for grad in found]


def _run(state: _Pass, keep_graph: bool) -> None:
    """Visit every vertex once, when all that it depends on has run.

    Most vertices have one consumer and are the only one ready when it is done: such a vertex is
    `following`, with the gradient beside it, and goes through neither the queue nor the buffers.
    """
    dependencies, buffers = state.dependencies, state.buffers
    is_plain = state.targets is None and not state.create_graph
    first = [vertex for vertex, waiting in dependencies.items() if not waiting]
    # Leaves and outputs of a node with several run as soon as their gradient is complete.
    at_once = [vertex for vertex in first if _runs_at_once(vertex)]
    ready = [(-vertex.sequence_nr, vertex) for vertex in first if not _runs_at_once(vertex)]
    heapify(ready)
    following: Node | None = None
    grad: Gradient | None = None
    while True:
        if at_once:
            if following is not None:
                buffers[following] = grad
                heappush(ready, (-following.sequence_nr, following))
                following = None
            vertex = at_once.pop()
            grad = buffers.pop(vertex, None)
        elif following is not None:
            vertex = following
            following = None
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
        if not keep_graph:
            vertex.release()

        position = -1
        for edge in vertex.edges:
            position += 1
            if edge is None:
                continue
            arrived = grads[position]
            waiting = dependencies[edge] - 1
            if waiting or edge in buffers:
                dependencies[edge] = waiting
                if arrived is not None:
                    state.add(edge, arrived)
                if waiting:
                    continue
                arrived = buffers.pop(edge, None)
            if following is None and not _runs_at_once(edge):
                following, grad = edge, arrived
                continue
            if arrived is not None:
                buffers[edge] = arrived
            if _runs_at_once(edge):
                at_once.append(edge)
            else:
                heappush(ready, (-edge.sequence_nr, edge))


def _runs_at_once(vertex: Node) -> bool:
    return isinstance(vertex, AccumulateGrad | OutputEdge)


def _visit(vertex: Node, grad: Gradient | None, state: _Pass) -> Sequence[Gradient]:
    """Hooks, capture and the VJP of one vertex; one answer per edge."""
    if vertex.hooks is None or state.create_graph:
        return _visit_in_mode(vertex, grad, state)
    with no_grad():
        return _visit_in_mode(vertex, grad, state)


def _visit_in_mode(vertex: Node, grad: Gradient | None, state: _Pass) -> Sequence[Gradient]:
    nothing = (None,) * len(vertex.edges)
    if grad is None:
        return nothing
    if vertex.hooks is not None:
        grad = _call_grad_hooks(vertex, grad, state)
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
    apply = vertex.apply_differentiable if state.create_graph else vertex.apply
    if vertex.hooks is None:
        return apply(grad, needs)
    return _call_node_hooks(vertex, apply, grad, needs, state)


def _collect(vertex: OutputEdge, grad: Gradient, state: _Pass) -> None:
    """Put the gradient of one output into the list that its node waits for."""
    node = vertex.node
    grads = state.buffers.setdefault(node, [None] * node.output_count)
    before = grads[vertex.output_nr]
    grads[vertex.output_nr] = grad if before is None else before + grad


def _call_grad_hooks(vertex: Node, grad: Gradient, state: _Pass) -> Gradient:
    """Tensor hooks in the order of registration, then `retain_grad`."""
    hooks = vertex.hooks
    assert hooks is not None
    for hook in list(hooks.on_grad.values()):
        replaced = hook(_as_tensor(grad))
        if replaced is not None:
            grad = _unwrapped(_checked(replaced, grad), state)
    if hooks.retain is not None:
        hooks.retain(_as_tensor(grad))
    return grad


def _call_node_hooks(
    vertex: Node, apply: Any, grad: Gradient, needs: Sequence[object], state: _Pass
) -> Sequence[Gradient]:
    """Node pre-hooks see and may replace what arrives, node hooks what leaves."""
    hooks = vertex.hooks
    assert hooks is not None
    if hooks.guard is not None:
        hooks.guard(vertex)
    several = vertex.has_several_outputs
    arriving = tuple(map(_as_optional_tensor, grad if several else (grad,)))
    for hook in list(hooks.before_node.values()):
        replaced = hook(arriving)
        if replaced is not None:
            arriving = replaced if isinstance(replaced, tuple) else (replaced,)
    given = [_unwrapped(tensor, state) for tensor in arriving]
    leaving = tuple(map(_as_optional_tensor, apply(given if several else given[0], needs)))
    for hook in list(hooks.after_node.values()):
        replaced = hook(leaving, arriving)
        if replaced is not None:
            leaving = replaced if isinstance(replaced, tuple) else (replaced,)
    return [_unwrapped(tensor, state) for tensor in leaving]


def _unwrapped(tensor: Tensor | None, state: _Pass) -> Gradient | None:
    """A gradient as the pass carries it: a tensor if it is to be differentiated again."""
    return tensor if tensor is None or state.create_graph else tensor.array


def _checked(replaced: object, grad: Gradient) -> Tensor:
    """What a hook returned, if it can stand for the gradient."""
    if not isinstance(replaced, Tensor):
        raise TypeError(
            f"expected the hook to return a Tensor or None, but got {type(replaced).__name__}"
        )
    if tuple(replaced.array.shape) != tuple(grad.shape):
        raise RuntimeError(
            f"hook has changed the size of value: {tuple(grad.shape)} became "
            f"{tuple(replaced.array.shape)}"
        )
    return replaced


def _as_tensor(grad: Gradient) -> Tensor:
    return grad if isinstance(grad, Tensor) else wrap(grad)


def _as_optional_tensor(grad: Gradient | None) -> Tensor | None:
    return None if grad is None else _as_tensor(grad)

"""The backward pass: visits the nodes of a graph, most recent first, and carries gradients.

The parts are those of PyTorch's engine. `execute` makes a `GraphTask`, which counts what each
vertex waits for and holds the gradients that have arrived; `run` takes one ready vertex after the
other from a queue, evaluates it, and adds what comes out to the buffers of the next.

No recursion anywhere: the graph may be millions of nodes deep. All state of a pass is local, so
passes may nest and run in several threads.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from heapq import heappop, heappush, heapreplace
from itertools import count
from typing import Final

import numpy as np

from .anomaly import explain, is_anomaly_enabled
from .forward_mode import current_level
from .hook_calls import Gradient, as_tensor, call_node_hooks, call_tensor_hooks
from .modes import enable_grad, no_grad
from .node import AccumulateGrad, GraphRoot, Node, OutputEdge
from .reentrant import LEVELS_PER_THREAD, run_in_fresh_thread
from .tensor import Tensor

_next_number: Final[Callable[[], int]] = count().__next__


class _Running(threading.local):
    """The passes of one thread, innermost last."""

    def __init__(self) -> None:
        self.passes: list[GraphTask] = []


_running: Final = _Running()


def current_pass() -> GraphTask | None:
    """The innermost backward pass that is running in this thread."""
    return _running.passes[-1] if _running.passes else None


def current_pass_number() -> int:
    """A number that only the current pass has; -1 outside of any."""
    running = current_pass()
    return -1 if running is None else running.number


class GraphTask:
    """One backward pass: dependency counts, and the gradients that have arrived so far."""

    __slots__ = (
        "__weakref__",
        "buffers",
        "create_graph",
        "dependencies",
        "needs",
        "number",
        "on_tensors",
        "owned",
        "root",
        "targets",
    )

    def __init__(self, root: Node, targets: Sequence[Node] | None, create_graph: bool) -> None:
        self.root = root
        self.create_graph = create_graph
        self.on_tensors = create_graph or current_level() is not None
        """Whether gradients are tensors, because ops on them are recorded or carry tangents."""
        self.number = _next_number()
        self.buffers: dict[Node, Gradient] = {}
        self.owned: set[Node] = set()
        """Vertices whose buffer is a sum made here, so that more can be added in place."""
        self.targets = None if targets is None else dict.fromkeys(targets)
        """The vertices whose gradient is wanted, each with what arrived; None: every leaf."""
        self.dependencies = _count_dependencies(root)
        self.needs = None if targets is None else _what_leads_to(targets, self.dependencies)
        """What `apply` is asked for, of the vertices that have to run; None: of all, everything.

        A target that leads to no other does not run, unless `run_targets` says so: it keeps what
        it saved, for another pass.
        """

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

    def run_targets(self) -> None:
        """Let the targets run too, though nobody asks for what they compute."""
        if self.needs is None or self.targets is None:
            return
        for vertex in self.targets:
            for each in [vertex, vertex.node] if isinstance(vertex, OutputEdge) else [vertex]:
                if each.edges:
                    self.needs.setdefault(each, [False] * len(each.edges))

    def wants(self, vertex: Node) -> bool:
        """Whether tensor hooks run at a vertex: not so at one that leads to no target.

        If it is the only root, they run all the same, as in PyTorch.
        """
        if self.needs is None or self.targets is None or vertex is self.root:
            return True
        return vertex in self.needs or vertex in self.targets

    def visited(self) -> Iterable[Node]:
        """The vertices at which a gradient is wanted in this pass."""
        if self.needs is None or self.targets is None:
            return self.dependencies
        return self.needs.keys() | (self.targets.keys() & self.dependencies.keys())


def _count_dependencies(root: Node) -> dict[Node, int]:
    """How many edges lead to each vertex below the root."""
    dependencies = {root: 0}
    vertices = [root]
    for vertex in vertices:  # which grows meanwhile
        for edge in vertex.edges:
            if edge is None:
                continue
            if edge in dependencies:
                dependencies[edge] += 1
            else:
                dependencies[edge] = 1
                vertices.append(edge)
    return dependencies


def _what_leads_to(
    targets: Sequence[Node], vertices: Iterable[Node]
) -> dict[Node, Sequence[object]]:
    """Of each vertex from which a target can be reached by an edge: which of its edges lead on."""
    leading = set(targets)
    ends = [vertex for vertex in vertices if not any(vertex.edges)]
    if leading.issuperset(ends):  # so that every path leads to a target
        return {vertex: vertex.edges for vertex in vertices if vertex.edges}
    needs: dict[Node, Sequence[object]] = {}
    # An edge leads to a smaller number, so what a vertex leads to is known before its turn comes.
    for vertex in sorted(vertices, key=_number):
        edges = vertex.edges
        if not leading.isdisjoint(edges):
            leading.add(vertex)
            needs[vertex] = edges if leading.issuperset(edges) else [e in leading for e in edges]
    return needs


def _number(vertex: Node) -> float:
    # The vertex of an output has the number of its node, and leads there.
    return vertex.sequence_nr + 0.5 if type(vertex) is OutputEdge else vertex.sequence_nr


def execute(
    roots: Sequence[Node],
    inputs: Sequence[Tensor],
    *,
    keep_graph: bool,
    create_graph: bool,
    outputs: Sequence[Node] | None = None,
    outputs_run: bool = False,
) -> list[Tensor | None]:
    """Carry `inputs`, the cotangents of `roots`, through the graph.

    Without `outputs` they are added to the `grad` of every leaf below. With them nothing is
    accumulated: the answer holds the gradient that arrived at each of these vertices, None where
    none did. With `outputs_run` their nodes run, too, with their hooks, and are freed.
    """
    root = roots[0] if len(roots) == 1 else GraphRoot(roots)
    task = GraphTask(root, outputs, create_graph)
    if outputs_run:
        task.run_targets()
    grads = inputs if task.on_tensors else [tensor.array for tensor in inputs]
    task.buffers[root] = grads[0] if len(roots) == 1 else grads
    if len(_running.passes) < LEVELS_PER_THREAD:
        _run_watched(task, keep_graph)
    else:
        run_in_fresh_thread(partial(_run_watched, task, keep_graph))
    if outputs is None or task.targets is None:
        return []
    found = (task.targets[output] for output in outputs)
    return [None if grad is None else as_tensor(grad) for grad in found]


def _run_watched(task: GraphTask, keep_graph: bool) -> None:
    """Run a pass as the current one of this thread, and say which node failed if one does."""
    if is_anomaly_enabled():
        for vertex in task.dependencies:
            vertex._own_hooks()  # which takes it to where anomalies are looked for
    passes = _running.passes
    passes.append(task)
    try:
        if task.on_tensors:
            with enable_grad() if task.create_graph else no_grad():
                run(task, keep_graph)
        else:
            # On arrays: only hooks see tensors, and they have their own mode.
            strategy.run(task, keep_graph)
    except BaseException as error:
        explain(run, error)
        raise
    finally:
        passes.pop()


def run(task: GraphTask, keep_graph: bool) -> None:
    """Visit every vertex once, when all that it depends on has run.

    Most vertices have one consumer and are the only one ready when it is done: such a vertex is
    `following`, with the gradient beside it, and goes through neither the queue nor the buffers.
    """
    root, dependencies, buffers, runs = task.root, task.dependencies, task.buffers, task.needs
    is_plain = task.targets is None and not task.on_tensors
    at_once = deque([root] if root.runs_at_once else ())  # there may be a million of them
    ready = [] if at_once else [(-root.sequence_nr, root)]
    following: Node | None = None
    following_grad: Gradient | None = None
    while True:
        if at_once:
            vertex = at_once.popleft()
            if is_plain and type(vertex) is AccumulateGrad and vertex.hooks is None:
                grad = grads = arrived = None  # so that an array which nobody else has can be kept
                vertex.take_from(buffers)
                continue
            grads = visit(vertex, buffers.pop(vertex, None), task)
        else:
            if following is not None:
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
            if vertex.hooks is not None or grad is None:
                grads = visit(vertex, grad, task)
            elif is_plain:
                grads = vertex.apply(grad, vertex.edges)
            else:
                grads = evaluate_function(vertex, grad, task)
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
                    task.add(edge, arrived)
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


class Strategy:
    """How passes on arrays visit their vertices: `run`, unless `parallel` says otherwise."""

    __slots__ = ("run",)

    def __init__(self) -> None:
        self.run: Callable[[GraphTask, bool], None] = run


strategy: Final = Strategy()


def visit(vertex: Node, grad: Gradient | None, task: GraphTask) -> Sequence[Gradient]:
    """What is not as usual: no gradient, hooks, one output of several; one answer per edge."""
    if grad is None:
        return (None,) * len(vertex.edges)
    if vertex.hooks is None or task.on_tensors:
        return evaluate_function(vertex, grad, task)
    with no_grad():
        return evaluate_function(vertex, grad, task)


def evaluate_function(vertex: Node, grad: Gradient, task: GraphTask) -> Sequence[Gradient]:
    """Capture and the VJP of one vertex, and its hooks before and after."""
    if vertex.hooks is not None:
        if not task.wants(vertex):
            return (None,) * len(vertex.edges)
        grad = call_tensor_hooks(vertex.hooks, grad, task.on_tensors)
    needs: Sequence[object] | None = vertex.edges
    if task.needs is not None and task.targets is not None:
        if vertex in task.targets:
            task.targets[vertex] = grad
        needs = task.needs.get(vertex)
    if needs is None:
        return (None,) * len(vertex.edges)
    if type(vertex) is OutputEdge:
        _collect(vertex, grad, task)
        return (None,)
    if vertex.hooks is not None:
        return call_node_hooks(vertex, vertex.hooks, grad, needs, task.on_tensors)
    return (vertex.apply_differentiable if task.on_tensors else vertex.apply)(grad, needs)


def _collect(vertex: OutputEdge, grad: Gradient, task: GraphTask) -> None:
    """Put the gradient of one output into the list that its node waits for."""
    node = vertex.node
    grads = task.buffers.setdefault(node, [None] * node.output_count)
    before = grads[vertex.output_nr]
    grads[vertex.output_nr] = grad if before is None else before + grad

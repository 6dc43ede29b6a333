"""The backward pass: visits the nodes of a graph, most recent first, and carries gradients.

The parts are those of PyTorch's engine. `execute` makes a `GraphTask`, which holds the gradients
that have arrived. `run` visits its vertices in two loops. `run_ahead` does without counting what a
vertex waits for, as long as only the table's own VJPs run, which cannot tell when the leaves get
their gradients. From the first hook or custom function on, `finish` counts, so that a leaf has its
gradient as soon as that is complete.

No recursion anywhere: the graph may be millions of nodes deep. All state of a pass is local, so
passes may nest and run in several threads.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from heapq import heapify, heappop, heappush, heapreplace
from typing import Any, Final

from ..core.modes import enable_grad, no_grad
from ..core.node import AccumulateGrad, GraphRoot, Node, OutputEdge, place_of
from ..core.tensor import Tensor
from ..fast.parallel_for import ENOUGH, have_met_large
from .anomaly import explain, is_anomaly_enabled
from .chains import apply_chain
from .graph_task import GraphTask
from .reentrant import LEVELS_PER_THREAD, run_in_fresh_thread
from .run_hooks import Gradient, as_tensor, call_node_hooks, call_tensor_hooks, run_with_saved

_MUCH: Final = 2**15
"""Elements of a leaf's gradient from which on it is added at once, and not held until the end."""


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


def execute(
    roots: Sequence[Node],
    inputs: Sequence[Tensor],
    *,
    keep_graph: bool,
    create_graph: bool,
    outputs: Sequence[Node] | None = None,
    accumulates: bool = False,
) -> list[Tensor | None]:
    """Carry `inputs`, the cotangents of `roots`, through the graph.

    Without `outputs` they are added to the `grad` of every leaf below, and the answer is empty; if
    the pass `accumulates`, to those among `outputs` only, the nodes of which run all the same.
    Else the answer is the gradient that arrived at each of `outputs`, None where none did.
    """
    root = roots[0] if len(roots) == 1 else GraphRoot(roots)
    task = GraphTask(root, outputs, create_graph, accumulates)
    grads = inputs if task.on_tensors else [tensor.array for tensor in inputs]
    task.buffers[root] = grads[0] if len(roots) == 1 else grads
    if len(_running.passes) < LEVELS_PER_THREAD:
        _run_watched(task, keep_graph)
    else:
        run_in_fresh_thread(partial(_run_watched, task, keep_graph))
    if outputs is None or accumulates:
        return []
    found = [task.captures[node][output_nr] for node, output_nr in map(place_of, outputs)]
    return [None if grad is None else as_tensor(grad) for grad in found]


def _run_watched(task: GraphTask, keep_graph: bool) -> None:
    """Run a pass as the current one of this thread, and say which node failed if one does."""
    if is_anomaly_enabled():
        task.count_dependencies([task.root])
        for vertex in task.dependencies:
            place_of(vertex)[0]._own_hooks()  # which takes it to where anomalies are looked for
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
        explain(error, run_ahead, finish)
        raise
    finally:
        passes.pop()


def run(task: GraphTask, keep_graph: bool) -> None:
    """Visit every vertex once, when all that it depends on has run."""
    # A profiler shall see every vertex once, and all of the time it takes.
    may_be_large = have_met_large() and sys.getprofile() is None
    if not run_ahead(task, keep_graph, may_be_large):
        finish(task, keep_graph)
        return
    for leaf in list(task.buffers):
        _arrive(leaf, task)


def run_ahead(task: GraphTask, keep_graph: bool, may_be_large: bool) -> bool:
    """Visit vertices while nobody can tell when leaves get their gradients, which stay in buffers.

    An edge leads to a smaller number. So the vertex with the greatest number, of those at which
    something has arrived, waits for nothing more, and no dependencies are counted. Most vertices
    have one consumer: such a vertex is `following`, with the gradient beside it, and goes through
    neither the queue nor the buffers. Gradients that `may_be_large` may go along whole chains.

    The answer: whether no other vertices than leaves without hooks are left.
    """
    buffers, runs, on_tensors = task.buffers, task.needs, task.on_tensors
    ahead: list[tuple[int, Node]] = []
    following: Node | None = None
    following_grad: Gradient | None = None
    vertex, grad = task.root, buffers.pop(task.root)
    goes_on = vertex.is_ordinary and Node.are_in_order and _wants_leaves(task)
    try:
        while goes_on and vertex.hooks is None:
            edges = vertex.edges
            needs = edges if runs is None else runs.get(vertex)
            if needs is None:
                edges = ()
            elif grad is None:
                grads: Sequence[Gradient] = (None,) * len(edges)
            elif on_tensors:
                grads = vertex.apply_differentiable(grad, needs)
            elif may_be_large and vertex.is_pointwise and grad.size >= ENOUGH:
                vertex, edges, grads = apply_chain(vertex, grad, needs, task, ahead, keep_graph)
            else:
                grads = vertex.apply(grad, needs)
            if needs is not None and not keep_graph:
                vertex.release()

            position = -1
            for edge in edges:
                position += 1
                if edge is None:
                    continue
                arrived = grads[position]
                if edge in buffers:
                    if arrived is not None:
                        task.add(edge, arrived)
                elif not edge.is_ordinary:
                    buffers[edge] = arrived
                    goes_on = goes_on and _may_wait(edge, arrived, task)
                elif following is None:
                    following, following_grad = edge, arrived
                elif edge is not following:
                    buffers[edge] = arrived
                    heappush(ahead, (-edge.sequence_nr, edge))
                elif arrived is not None:
                    following_grad = task.sum(edge, following_grad, arrived)

            if following is None:
                if not ahead:
                    return goes_on
                vertex = heappop(ahead)[1]
                grad = buffers.pop(vertex)
            elif ahead and -ahead[0][0] > following.sequence_nr:
                buffers[following] = following_grad
                vertex = heapreplace(ahead, (-following.sequence_nr, following))[1]
                grad, following = buffers.pop(vertex), None
            else:
                vertex, grad, following = following, following_grad, None
    except BaseException:
        buffers[vertex] = grad
        _give_leaves_what_is_complete(task)
        raise
    buffers[vertex] = grad
    return False


def _give_leaves_what_is_complete(task: GraphTask) -> None:
    """After an error: what they would have by now if they had not waited."""
    for vertex in _complete(task):
        if type(vertex) is AccumulateGrad:
            _arrive(vertex, task)


def _wants_leaves(task: GraphTask) -> bool:
    """Whether no gradient is captured on the way."""
    return all(type(target) is AccumulateGrad for target in task.captures)


def _may_wait(edge: Node, grad: Gradient | None, task: GraphTask) -> bool:
    """Whether this is a leaf of which nobody can tell when it gets its gradient.

    A large one is added at once, as PyTorch does: held, it would cost memory.
    """
    if type(edge) is not AccumulateGrad or edge.hooks is not None:
        return False
    return bool(task.captures) or task.on_tensors or grad is None or bool(grad.size <= _MUCH)


def _complete(task: GraphTask) -> list[Node]:
    """The vertices that wait for nothing more, of those at which something has arrived."""
    task.count_dependencies(list(task.buffers))
    return [vertex for vertex in task.buffers if not task.dependencies[vertex]]


def _arrive(leaf: Any, task: GraphTask) -> None:
    """The end of the way for what is in the buffer of a leaf that has no hooks."""
    accumulates = task.needs is None or leaf in task.needs
    if accumulates and not task.on_tensors:
        leaf.take_from(task.buffers)
        return
    grad = task.buffers.pop(leaf)
    if grad is None:
        return
    if accumulates:
        leaf.apply_differentiable(grad, ())
    elif leaf in task.captures:
        task.captures[leaf][0] = grad


def finish(task: GraphTask, keep_graph: bool) -> None:
    """Visit the vertices that are left, each when all that it depends on has run."""
    buffers, runs = task.buffers, task.needs
    is_plain = runs is None and not task.on_tensors
    complete = _complete(task)
    dependencies = task.dependencies
    at_once = deque(vertex for vertex in complete if vertex.runs_at_once)  # maybe a million
    # Only numbers that were set by hand can be the same: what runs first is no matter then.
    ready = [(-v.sequence_nr, id(v), v) for v in complete if not v.runs_at_once]
    heapify(ready)
    while at_once or ready:
        if at_once:
            vertex = at_once.popleft()
            if type(vertex) is AccumulateGrad and vertex.hooks is None and vertex in buffers:
                grad = grads = arrived = None  # so that an array which nobody else has can be kept
                _arrive(vertex, task)
                continue
            grads = visit(vertex, buffers.pop(vertex, None), task)
        else:
            vertex = heappop(ready)[2]
            grad = buffers.pop(vertex, None)
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
            if arrived is not None:
                task.add(edge, arrived)
            dependencies[edge] -= 1
            if dependencies[edge]:
                continue
            if edge.runs_at_once:
                at_once.append(edge)
            else:
                heappush(ready, (-edge.sequence_nr, id(edge), edge))


class Strategy:
    """How passes on arrays visit their vertices: `run`, unless `parallel` says otherwise."""

    __slots__ = ("run",)

    def __init__(self) -> None:
        self.run: Callable[[GraphTask, bool], None] = run


strategy: Final = Strategy()


def visit(vertex: Node, grad: Gradient | None, task: GraphTask) -> Sequence[Gradient]:
    """What is not as usual: no gradient, hooks, one output of several; one answer per edge."""
    if grad is None and vertex.hooks is None and not vertex.runs_without_grad:
        return (None,) * len(vertex.edges)
    if vertex.hooks is None or task.on_tensors:
        return evaluate_function(vertex, grad, task)
    with no_grad():
        return evaluate_function(vertex, grad, task)


def evaluate_function(vertex: Node, grad: Gradient | None, task: GraphTask) -> Sequence[Gradient]:
    """Capture and the VJP of one vertex, and its hooks before and after.

    What is captured of a vertex that runs has not been through its hooks, as in PyTorch.
    """
    needs = vertex.edges if task.needs is None else task.needs.get(vertex)
    hooks = vertex.hooks
    if needs is None and hooks is not None and task.is_wanted(vertex):
        grad = call_tensor_hooks(vertex, hooks, grad, task.on_tensors)
    if vertex in task.captures:
        _capture(vertex, grad, task.captures[vertex])
    if needs is None:
        return (None,) * len(vertex.edges)
    if isinstance(vertex, OutputEdge):
        _collect(vertex, grad, task)
        return (None,)
    if hooks is not None:
        grad = call_tensor_hooks(vertex, hooks, grad, task.on_tensors)
        return call_node_hooks(vertex, hooks, grad, needs, task.on_tensors)
    return run_with_saved(vertex, grad, needs, task.on_tensors)


def _capture(vertex: Node, grad: Gradient | None, wanted: dict[int, Gradient | None]) -> None:
    """Keep what has arrived at the outputs of a vertex that are asked for."""
    if grad is not None:
        for output_nr in wanted:
            wanted[output_nr] = grad[output_nr] if vertex.has_several_outputs else grad


def _collect(vertex: OutputEdge, grad: Gradient, task: GraphTask) -> None:
    """Put the gradient of one output into the list that its node waits for."""
    if grad is None:
        return
    node = vertex.node
    if not node.has_several_outputs:
        task.add(node, grad)
        return
    grads = task.buffers.setdefault(node, [None] * node.output_count)
    before = grads[vertex.output_nr]
    grads[vertex.output_nr] = grad if before is None else before + grad

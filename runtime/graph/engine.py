"""The backward pass: visits the nodes of a graph, most recent first, and carries gradients.

The parts are those of PyTorch's engine. `execute` makes a `GraphTask`, which holds the gradients
that have arrived. `run` visits its nodes in two loops. `run_eager` does without counting what a
node waits for, as long as only the table's own VJPs run, which cannot tell when the leaves get
their gradients. From the first hook or custom function on, `run_counted` counts, so that a leaf has
its gradient as soon as that is complete.

No recursion anywhere: the graph may be millions of nodes deep. All state of a pass is local, so
passes may nest and run in several threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from heapq import heappop, heappush, heapreplace
from typing import Any

from ..core.accumulate_grad import AccumulateGrad
from ..core.levels import has_open_levels
from ..core.modes import enable_grad, no_grad
from ..core.node import GraphRoot, Node, OutputNode, place_of
from ..core.tensor import Tensor
from ..fast.tuning import DEFER_LEAF_MAX
from ..forward_ad.dual import current_level
from .anomaly import explain, is_anomaly_enabled
from .graph_task import Gradient, GraphTask, running
from .reentrant import LEVELS_PER_THREAD, run_in_fresh_thread
from .run_hooks import as_tensor, call_node_hooks, call_tensor_hooks, run_with_saved


def execute(
    roots: Sequence[Node],
    inputs: Sequence[Tensor],
    *,
    keep_graph: bool,
    create_graph: bool,
    captures: Sequence[Node] | None = None,
    accumulates: bool = False,
) -> list[Tensor | None]:
    """Carry `inputs`, the cotangents of `roots`, through the graph.

    Without `captures` add gradients to the `grad` of every leaf below, and return none; if the pass
    `accumulates`, only to those among `captures`, the nodes of which run all the same. Else return
    the gradient that arrived at each of `captures`, None where none did.
    """
    root = roots[0] if len(roots) == 1 else GraphRoot(roots)
    on_tensors = create_graph or (has_open_levels() and _are_transformed(inputs))
    task = GraphTask(root, captures, on_tensors, accumulates)
    grads = inputs if task.on_tensors else [tensor.array for tensor in inputs]
    task.buffers[root] = grads[0] if len(roots) == 1 else grads
    start = run if len(running.tasks) < LEVELS_PER_THREAD else partial(run_in_fresh_thread, run)
    if not task.on_tensors:  # only hooks see tensors, and they have their own mode
        start(task, keep_graph)
    else:
        with enable_grad() if create_graph else no_grad():
            start(task, keep_graph)
    if captures is None or accumulates:
        return []
    found = [task.captures[node][output_nr] for node, output_nr in map(place_of, captures)]
    return [None if grad is None else as_tensor(grad) for grad in found]


def _are_transformed(cotangents: Sequence[Tensor]) -> bool:
    """Return whether gradients must be tensors: for forward mode, or as cotangents are batched."""
    return current_level() is not None or any(type(each) is not Tensor for each in cotangents)


def run(task: GraphTask, keep_graph: bool) -> None:
    """Visit every node once, as the current pass of this thread."""
    if is_anomaly_enabled():
        task.count_dependencies([task.root])
        for node in task.dependencies:
            place_of(node)[0]._own_hooks()  # which takes it to where anomalies are looked for
    tasks = running.tasks
    tasks.append(task)
    try:
        if not run_eager(task, keep_graph):
            run_counted(task, keep_graph)
        else:
            for leaf in list(task.buffers):
                deliver_to_leaf(leaf, task)
        for callback in task.callbacks:  # which may queue more
            with nullcontext() if task.on_tensors else no_grad():
                callback()
    finally:
        tasks.pop()


def run_eager(task: GraphTask, keep_graph: bool) -> bool:
    """Visit nodes without counting what they wait for; the gradients of leaves stay in buffers.

    Stop at the first node that can tell when leaves get their gradients, and return whether there
    was none, so that only leaves are left.

    An edge leads to a smaller number. So the node with the greatest number, of those at which
    something has arrived, waits for nothing more, and no dependencies are counted. Most nodes
    have one consumer: such a node is `following`, with the gradient beside it, and goes through
    neither the queue nor the buffers. What `GraphTask.propagate` does is written out: a call for
    each node would take a third of the time of a small op's gradient.
    """
    buffers, runs, on_tensors = task.buffers, task.needs, task.on_tensors
    ahead: list[tuple[int, Node]] = []
    following: Node | None = None
    node, grad = task.root, buffers.pop(task.root)
    can_defer_leaves = node.is_ordinary and _wants_leaves(task) and task.is_in_order()
    try:
        while can_defer_leaves and node.hooks is None:
            next_nodes = node.next_nodes
            needs = next_nodes if runs is None else runs.get(node)
            if needs is None:
                next_nodes = ()
            elif grad is None:
                grads: Sequence[Gradient] = (None,) * len(next_nodes)
            elif on_tensors:
                grads = node.apply_differentiable(grad, needs)
            else:
                grads = node.apply(grad, needs)
            if needs is not None and not keep_graph:
                node.release()

            position = -1
            for grad_node in next_nodes:
                position += 1
                if grad_node is None:
                    continue
                arrived = grads[position]
                if grad_node in buffers:
                    if arrived is not None:
                        task.add(grad_node, arrived)
                elif not grad_node.is_ordinary:
                    buffers[grad_node] = arrived
                    can_defer_leaves = can_defer_leaves and _may_wait(grad_node, arrived, task)
                elif following is None:
                    following, following_grad = grad_node, arrived
                elif grad_node is not following:
                    buffers[grad_node] = arrived
                    heappush(ahead, (-grad_node.sequence_nr, grad_node))
                elif arrived is not None:
                    following_grad = task.sum(grad_node, following_grad, arrived)

            if following is None:
                if not ahead:
                    return can_defer_leaves
                node = heappop(ahead)[1]
                grad = buffers.pop(node)
            elif ahead and -ahead[0][0] > following.sequence_nr:
                buffers[following] = following_grad
                node = heapreplace(ahead, (-following.sequence_nr, following))[1]
                grad, following = buffers.pop(node), None
            else:
                node, grad, following = following, following_grad, None
    except BaseException as error:
        explain(error, node)
        buffers[node] = grad
        _deliver_to_complete_leaves(task)
        raise
    buffers[node] = grad
    return False


def _deliver_to_complete_leaves(task: GraphTask) -> None:
    """Deliver, after an error, what leaves would have by now if they had not waited."""
    for node in task.complete_nodes():
        if type(node) is AccumulateGrad:
            deliver_to_leaf(node, task)


def _wants_leaves(task: GraphTask) -> bool:
    """Return whether no gradient is captured on the way."""
    return all(node.is_leaf for node in task.captures)


def _may_wait(grad_node: Node, grad: Gradient | None, task: GraphTask) -> bool:
    """Return whether this is a leaf of which nothing can tell when it gets its gradient.

    A large one is added at once, as PyTorch does: held, it would cost memory.
    """
    if type(grad_node) is not AccumulateGrad or grad_node.hooks is not None:
        return False
    return (
        bool(task.captures) or task.on_tensors or grad is None or bool(grad.size <= DEFER_LEAF_MAX)
    )


def deliver_to_leaf(leaf: Any, task: GraphTask) -> None:
    """Accumulate or capture what is in the buffer of a leaf that has no hooks."""
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


def run_counted(task: GraphTask, keep_graph: bool) -> None:
    """Visit the nodes that are left, each when all that it depends on has run."""
    buffers, runs = task.buffers, task.needs
    is_plain = runs is None and not task.on_tensors
    task.start_counting()
    at_once, ready = task.at_once, task.ready
    node = task.root
    try:
        while at_once or ready:
            if at_once:
                task.node = node = at_once.popleft()
                if node.is_leaf and node.hooks is None and node in buffers:
                    grad = grads = None  # so that an array that is not shared can be kept
                    deliver_to_leaf(node, task)
                    continue
                grads = run_hooked(node, buffers.pop(node, None), task)
            else:
                task.node = node = heappop(ready)[2]
                grad = buffers.pop(node, None)
                if node.hooks is not None or grad is None:
                    grads = run_hooked(node, grad, task)
                elif not is_plain:
                    grads = evaluate_function(node, grad, task)
                else:
                    grads = node.apply(grad, node.next_nodes)
            if not keep_graph and (runs is None or node in runs):
                node.release()
            task.propagate(node.next_nodes, grads)
    except BaseException as error:
        explain(error, node)
        raise


def run_hooked(node: Node, grad: Gradient | None, task: GraphTask) -> Sequence[Gradient]:
    """Run a node off the fast path: no gradient, hooks, one output of several."""
    if grad is None and node.hooks is None and not node.runs_without_grad:
        return (None,) * len(node.next_nodes)
    if node.hooks is None or task.on_tensors:
        return evaluate_function(node, grad, task)
    with no_grad():
        return evaluate_function(node, grad, task)


def evaluate_function(node: Node, grad: Gradient | None, task: GraphTask) -> Sequence[Gradient]:
    """Capture what arrives at a node, and run its VJP between its hooks.

    What is captured of a node that runs has not been through its hooks, as in PyTorch.
    """
    needs = node.next_nodes if task.needs is None else task.needs.get(node)
    hooks = node.hooks
    if needs is None and hooks is not None and task.is_wanted(node):
        grad = call_tensor_hooks(node, hooks, grad, task.on_tensors)
    if node in task.captures:
        _capture(node, grad, task.captures[node])
    # The hooks of the only root run on what it is given, even if it leads to no capture.
    if isinstance(node, OutputNode) and (needs is not None or node is task.root):
        _collect(node, grad, task)
        return (None,)
    if needs is None:
        return (None,) * len(node.next_nodes)
    if hooks is not None:
        grad = call_tensor_hooks(node, hooks, grad, task.on_tensors)
        return call_node_hooks(node, hooks, grad, needs, task.on_tensors)
    return run_with_saved(node, grad, needs, task.on_tensors)


def _capture(node: Node, grad: Gradient | None, wanted: dict[int, Gradient | None]) -> None:
    """Keep what has arrived at the outputs of a node that are asked for."""
    if grad is not None:
        for output_nr in wanted:
            wanted[output_nr] = grad[output_nr] if node.has_several_outputs else grad


def _collect(output: OutputNode, grad: Gradient, task: GraphTask) -> None:
    """Put the gradient of one output into the list that its node waits for."""
    if grad is None:
        return
    node = output.node
    if not node.has_several_outputs:
        task.add(node, grad)
        return
    grads = task.buffers.setdefault(node, [None] * node.output_count)
    before = grads[output.output_nr]
    grads[output.output_nr] = grad if before is None else before + grad

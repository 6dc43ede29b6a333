"""The state of one backward pass: gradients that have arrived, and the nodes that have to run."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappush
from itertools import count
from typing import Any, Final, TypeAlias

import numpy as np

from ..core.node import Node, place_of, renumbered

Gradient: TypeAlias = Any
"""An array in an ordinary pass, a tensor where ops on it are recorded or carry tangents."""

_next_number: Final[Callable[[], int]] = count().__next__


class _Running(threading.local):
    """The passes of one thread, innermost last."""

    def __init__(self) -> None:
        self.tasks: list[GraphTask] = []


running: Final = _Running()


def current_task() -> GraphTask | None:
    """Return the innermost backward pass that is running in this thread."""
    return running.tasks[-1] if running.tasks else None


def current_task_number() -> int:
    """Return a number that only the current pass has; -1 outside of any."""
    task = current_task()
    return -1 if task is None else task.number


class GraphTask:
    """One backward pass: the gradients that have arrived so far, and what is asked for."""

    at_once: deque[Node]
    """Complete nodes that bypass the queue, once the pass counts."""
    ready: list[tuple[int, int, Node]]
    """The queue of other complete nodes, most recent first, once the pass counts."""

    __slots__ = (
        "__weakref__",
        "at_once",
        "buffers",
        "callbacks",
        "captures",
        "dependencies",
        "needs",
        "node",
        "number",
        "on_tensors",
        "owned",
        "ready",
        "root",
    )

    def __init__(
        self, root: Node, captures: Sequence[Node] | None, on_tensors: bool, accumulates: bool
    ) -> None:
        self.root = root
        self.node: Node | None = None
        """The node whose gradient is being computed, once user code may look."""
        self.on_tensors = on_tensors
        """True if gradients are tensors, because ops on them are recorded or carry tangents."""
        self.callbacks: list[Callable[[], object]] = []
        """Functions to call when all gradients have been computed."""
        self.number = _next_number()
        self.buffers: dict[Node, Gradient] = {}
        self.owned: set[Node] = set()
        """Nodes whose buffer is a sum made here, so that more can be added in place."""
        self.dependencies: dict[Node, int] = {}
        """The number of edges each node waits for, once `count_dependencies` has been called."""
        self.captures: dict[Node, dict[int, Gradient | None]] = {}
        """The nodes of which gradients are wanted: of each output asked for, what arrived."""
        self.needs: dict[Node, Sequence[Any]] | None = None
        """The `needs` of each node that has to run; None if all do, for all their edges.

        A captured node that leads to no other runs only if the pass `accumulates`: else it keeps
        what it saved, for another pass.
        """
        if captures is not None:
            wanted = list(map(place_of, captures))
            self.needs = _paths_to([node for node, _ in wanted], root)
            for node, output_nr in wanted:
                if accumulates:
                    self.needs.setdefault(node, [False] * len(node.next_nodes))
                else:
                    self.captures.setdefault(node, {})[output_nr] = None

    def add(self, node: Node, grad: Gradient) -> None:
        """Add a gradient to what has arrived at `node`."""
        before = self.buffers.get(node)
        if before is None:
            self.buffers[node] = grad
        elif self.on_tensors or type(before) is not type(grad):
            self.buffers[node] = before + grad
        elif node in self.owned and before.dtype is grad.dtype:
            self.buffers[node] += grad
        else:
            # asanyarray: NumPy turns the sum of two 0-dim arrays into a scalar.
            self.buffers[node] = np.asanyarray(before + grad)
            self.owned.add(node)

    def start_counting(self) -> None:
        """Count dependencies from where the pass stands, and queue the nodes that wait for none."""
        complete = self.complete_nodes()
        self.at_once = deque(node for node in complete if node.bypasses_queue)  # maybe a million
        # Only numbers that were set by hand can be the same: what runs first is no matter then.
        self.ready = [(-v.sequence_nr, id(v), v) for v in complete if not v.bypasses_queue]
        heapify(self.ready)

    def complete_nodes(self) -> list[Node]:
        """Find the nodes that wait for nothing more, of those at which something has arrived."""
        self.count_dependencies(list(self.buffers))
        return [node for node in self.buffers if not self.dependencies[node]]

    def propagate(
        self, next_nodes: Sequence[Node | None], grads: Sequence[Gradient | None]
    ) -> None:
        """Add gradients to what has arrived at the next nodes; queue those that are complete."""
        buffers, dependencies = self.buffers, self.dependencies
        position = -1
        for node in next_nodes:
            position += 1
            if node is None:
                continue
            grad = grads[position]
            if node in buffers:
                if grad is not None:
                    self.add(node, grad)
            elif grad is not None:
                buffers[node] = grad
            dependencies[node] = waiting = dependencies[node] - 1
            if waiting:
                continue
            if node.bypasses_queue:
                self.at_once.append(node)
            else:
                heappush(self.ready, (-node.sequence_nr, id(node), node))

    def sum(self, node: Node, before: Gradient | None, grad: Gradient) -> Gradient:
        """Add `grad` to `before`, a sum for `node` that is held outside of its buffer."""
        self.buffers[node] = before
        self.add(node, grad)
        return self.buffers.pop(node)

    def count_dependencies(self, nodes: Sequence[Node]) -> None:
        """Count how many edges lead to each node from `nodes` on, where the pass stands."""
        dependencies = dict.fromkeys(nodes, 0)
        below = list(nodes)
        for node in below:  # which grows meanwhile
            for grad_node in node.next_nodes:
                if grad_node is None:
                    continue
                if grad_node in dependencies:
                    dependencies[grad_node] += 1
                else:
                    dependencies[grad_node] = 1
                    below.append(grad_node)
        self.dependencies = dependencies

    def is_in_order(self) -> bool:
        """Return whether every edge below the root leads to a smaller number."""
        if not renumbered:
            return True
        self.count_dependencies([self.root])
        return renumbered.isdisjoint(self.dependencies)

    def is_wanted(self, node: Node) -> bool:
        """Return whether tensor hooks run at a node: not so at one that leads to no capture.

        If it is the only root, they run all the same, as in PyTorch.
        """
        if self.needs is None or node in self.needs or node in self.captures:
            return True
        return node is place_of(self.root)[0]

    def visited(self) -> Iterable[Node]:
        """The nodes at which a gradient is wanted from here on; no other has hooks."""
        if self.needs is None:
            return self.dependencies
        # A capture that the pass does not reach is in `needs` all the same, if it accumulates.
        return (self.needs.keys() | self.captures.keys()) & self.dependencies.keys()


def _paths_to(captures: Sequence[Node], root: Node) -> dict[Node, Sequence[Any]]:
    """Find the nodes that lead to a capture, each with those of its edges that do."""
    needs: dict[Node, Sequence[Any]] = {root: root.next_nodes}
    nodes, ends = [root], []
    for node in nodes:  # which grows meanwhile
        for grad_node in node.next_nodes:
            if grad_node is not None and grad_node not in needs:
                needs[grad_node] = grad_node.next_nodes
                nodes.append(grad_node)
        if not any(node.next_nodes):
            ends.append(node)
    leading = set(captures)
    if leading.issuperset(ends):  # so that every path leads to a capture
        for node in ends:
            del needs[node]
        return needs
    consumers: dict[Node | None, list[Node]] = {}
    for node in nodes:
        for grad_node in node.next_nodes:
            consumers.setdefault(grad_node, []).append(node)
    below = list(leading)
    for node in below:  # which grows meanwhile
        for consumer in consumers.get(node, ()):
            if consumer not in leading:
                leading.add(consumer)
                below.append(consumer)
    return {
        node: next_nodes if leading.issuperset(next_nodes) else [n in leading for n in next_nodes]
        for node, next_nodes in needs.items()
        if not leading.isdisjoint(next_nodes)
    }

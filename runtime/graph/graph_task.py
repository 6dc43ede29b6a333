"""The state of one backward pass: what has arrived where, and which nodes have to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any, Final

import numpy as np

from ..core.node import Node, place_of
from ..forward_ad.dual import current_level
from .run_hooks import Gradient

_next_number: Final[Callable[[], int]] = count().__next__


class GraphTask:
    """One backward pass: the gradients that have arrived so far, and what is asked for."""

    __slots__ = (
        "__weakref__",
        "buffers",
        "captures",
        "create_graph",
        "dependencies",
        "needs",
        "number",
        "on_tensors",
        "owned",
        "root",
    )

    def __init__(
        self, root: Node, targets: Sequence[Node] | None, create_graph: bool, accumulates: bool
    ) -> None:
        self.root = root
        self.create_graph = create_graph
        self.on_tensors = create_graph or current_level() is not None
        """Whether gradients are tensors, because ops on them are recorded or carry tangents."""
        self.number = _next_number()
        self.buffers: dict[Node, Gradient] = {}
        self.owned: set[Node] = set()
        """Nodes whose buffer is a sum made here, so that more can be added in place."""
        self.dependencies: dict[Node, int] = {}
        """What each node waits for, once `count_dependencies` has been called."""
        self.captures: dict[Node, dict[int, Gradient | None]] = {}
        """The nodes of which gradients are wanted: of each output asked for, what arrived."""
        self.needs: dict[Node, Sequence[Any]] | None = None
        """What `apply` is asked for, of the nodes that have to run; None: of all, everything.

        A target that leads to no other runs only if the pass `accumulates`: else it keeps what it
        saved, for another pass.
        """
        if targets is not None:
            places = list(map(place_of, targets))
            self.needs = _what_leads_to([node for node, _ in places], root)
            for node, output_nr in places:
                if accumulates:
                    self.needs.setdefault(node, [False] * len(node.next_nodes))
                else:
                    self.captures.setdefault(node, {})[output_nr] = None

    def add(self, node: Node, grad: Gradient) -> None:
        """A gradient arrives at `node`."""
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

    def sum(self, node: Node, before: Gradient | None, grad: Gradient) -> Gradient:
        """What has arrived at `node` when `grad` has, of which `before` is not in its buffer."""
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

    def is_wanted(self, node: Node) -> bool:
        """Whether tensor hooks run at a node: not so at one that leads to no target.

        If it is the only root, they run all the same, as in PyTorch.
        """
        if self.needs is None or node in self.needs or node in self.captures:
            return True
        return node is place_of(self.root)[0]

    def visited(self) -> Iterable[Node]:
        """The nodes at which a gradient is wanted from here on; no other has hooks."""
        if self.needs is None:
            return self.dependencies
        # A target that the pass does not reach is in `needs` all the same (`run_targets`).
        return (self.needs.keys() | self.captures.keys()) & self.dependencies.keys()


def _what_leads_to(targets: Sequence[Node], root: Node) -> dict[Node, Sequence[Any]]:
    """Of each node from which a target can be reached by an edge: which of its edges lead on."""
    needs: dict[Node, Sequence[Any]] = {root: root.next_nodes}
    nodes, ends = [root], []
    for node in nodes:  # which grows meanwhile
        for grad_node in node.next_nodes:
            if grad_node is not None and grad_node not in needs:
                needs[grad_node] = grad_node.next_nodes
                nodes.append(grad_node)
        if not any(node.next_nodes):
            ends.append(node)
    leading = set(targets)
    if leading.issuperset(ends):  # so that every path leads to a target
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

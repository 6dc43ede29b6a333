"""The state of one backward pass: what has arrived where, and which vertices have to run."""

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
        """Vertices whose buffer is a sum made here, so that more can be added in place."""
        self.dependencies: dict[Node, int] = {}
        """What each vertex waits for, once `count_dependencies` has been called."""
        self.captures: dict[Node, dict[int, Gradient | None]] = {}
        """The nodes of which gradients are wanted: of each output asked for, what arrived."""
        self.needs: dict[Node, Sequence[Any]] | None = None
        """What `apply` is asked for, of the vertices that have to run; None: of all, everything.

        A target that leads to no other runs only if the pass `accumulates`: else it keeps what it
        saved, for another pass.
        """
        if targets is not None:
            places = list(map(place_of, targets))
            self.needs = _what_leads_to([node for node, _ in places], root)
            for node, output_nr in places:
                if accumulates:
                    self.needs.setdefault(node, [False] * len(node.edges))
                else:
                    self.captures.setdefault(node, {})[output_nr] = None

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

    def sum(self, vertex: Node, before: Gradient | None, grad: Gradient) -> Gradient:
        """What has arrived at `vertex` when `grad` has, of which `before` is not in its buffer."""
        self.buffers[vertex] = before
        self.add(vertex, grad)
        return self.buffers.pop(vertex)

    def count_dependencies(self, vertices: Sequence[Node]) -> None:
        """Count how many edges lead to each vertex from `vertices` on, where the pass stands."""
        dependencies = dict.fromkeys(vertices, 0)
        below = list(vertices)
        for vertex in below:  # which grows meanwhile
            for edge in vertex.edges:
                if edge is None:
                    continue
                if edge in dependencies:
                    dependencies[edge] += 1
                else:
                    dependencies[edge] = 1
                    below.append(edge)
        self.dependencies = dependencies

    def is_wanted(self, vertex: Node) -> bool:
        """Whether tensor hooks run at a vertex: not so at one that leads to no target.

        If it is the only root, they run all the same, as in PyTorch.
        """
        if self.needs is None or vertex in self.needs or vertex in self.captures:
            return True
        return vertex is place_of(self.root)[0]

    def visited(self) -> Iterable[Node]:
        """The vertices at which a gradient is wanted from here on; no other has hooks."""
        if self.needs is None:
            return self.dependencies
        # A target that the pass does not reach is in `needs` all the same (`run_targets`).
        return (self.needs.keys() | self.captures.keys()) & self.dependencies.keys()


def _what_leads_to(targets: Sequence[Node], root: Node) -> dict[Node, Sequence[Any]]:
    """Of each vertex from which a target can be reached by an edge: which of its edges lead on."""
    needs: dict[Node, Sequence[Any]] = {root: root.edges}
    vertices, ends = [root], []
    for vertex in vertices:  # which grows meanwhile
        for edge in vertex.edges:
            if edge is not None and edge not in needs:
                needs[edge] = edge.edges
                vertices.append(edge)
        if not any(vertex.edges):
            ends.append(vertex)
    leading = set(targets)
    if leading.issuperset(ends):  # so that every path leads to a target
        for vertex in ends:
            del needs[vertex]
        return needs
    consumers: dict[Node | None, list[Node]] = {}
    for vertex in vertices:
        for edge in vertex.edges:
            consumers.setdefault(edge, []).append(vertex)
    below = list(leading)
    for vertex in below:  # which grows meanwhile
        for consumer in consumers.get(vertex, ()):
            if consumer not in leading:
                leading.add(consumer)
                below.append(consumer)
    return {
        vertex: edges if leading.issuperset(edges) else [edge in leading for edge in edges]
        for vertex, edges in needs.items()
        if not leading.isdisjoint(edges)
    }

"""Large gradients on their way through nodes that treat every element by itself.

Where such a node leads to another one and nowhere else, and nothing else arrives there, a block
of the gradient passes both before the next block sets out, and so on along the whole chain. So the
block stays in the cache, and what lies between two nodes is never written to memory. Every core
takes a part of the blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from ..core.node import Node
from ..core.tensor import Tensor, new_tensor
from ..fast.parallel_for import share
from ..fast.tuning import CHAIN_BLOCK_BYTES
from .graph_task import Gradient, GraphTask

Array: TypeAlias = np.ndarray[Any, Any]

_SAME_FOR_ALL_BLOCKS: Final = (type(None), bool, int, float, complex, str)
"""The types of what is the same for every block."""


class _Link(NamedTuple):
    """A node of a chain."""

    node: Node
    position: int
    """The position of its only edge."""
    kept: list[tuple[str, Any, Array | None]]
    """Its slots, what they hold, and the elements of that in a row where each block has its own."""

    def has_work(self) -> bool:
        """Return whether it computes with arrays: a sum hands its gradient on."""
        return any(flat is not None for _, _, flat in self.kept)


class _Part:
    """A node of the same kind as one of a chain, which keeps one block at a time."""

    __slots__ = ("blocks", "next_nodes", "node", "position")

    def __init__(self, link: _Link) -> None:
        self.node = type(link.node)()
        self.next_nodes = link.node.next_nodes
        self.position = link.position
        self.blocks: list[tuple[object, str, Array]] = []
        for slot, value, flat in link.kept:
            kept = value
            if flat is not None and type(value) is Tensor:
                kept = new_tensor()
                kept.grad_node, kept.alias = None, value.alias
                self.blocks.append((kept, "array", flat))
            elif flat is not None:
                self.blocks.append((self.node, slot, flat))
            setattr(self.node, slot, kept)

    def apply(self, grad: Array, start: int, stop: int) -> Array:
        """The VJP of one block."""
        for holder, name, flat in self.blocks:
            setattr(holder, name, flat[start:stop])
        answer: Array = self.node.apply(grad, self.next_nodes)[self.position]
        return answer


def apply_chain(
    node: Node,
    grad: Gradient,
    needs: Sequence[object],
    task: GraphTask,
    ahead: Sequence[tuple[int, Node]],
    keep_graph: bool,
) -> tuple[Node, tuple[Node | None, ...], Sequence[Gradient]]:
    """The VJP of a node and of all that form a chain with it: the last, its edges and gradients.

    `ahead` is the heap of other nodes at which gradients have arrived, by falling number. All
    but the last are released, unless `keep_graph`.
    """
    flat = _flat(grad)
    next_number = -ahead[0][0] if ahead else 0
    links = [] if flat is None else list(_links(node, grad.shape, task, next_number))
    if flat is not None and sum(link.has_work() for link in links) > 1:
        try:
            array = _passed_through(links, flat).reshape(grad.shape)
        except Exception:
            # One node at a time the error comes again, and everybody sees which it belongs to.
            return node, node.next_nodes, node.apply(grad, needs)
        *passed, last = links
        if not keep_graph:
            for link in passed:
                link.node.release()
        next_nodes = last.node.next_nodes
        return (
            last.node,
            next_nodes,
            [None if n is None else array for n in next_nodes],
        )
    return node, node.next_nodes, node.apply(grad, needs)


def _links(
    node: Node, shape: tuple[int, ...], task: GraphTask, next_number: int
) -> Iterator[_Link]:
    """The nodes that run one after the other from `node` on, as long as they are of the kind.

    `next_number` is that of the node that runs next if none of them does.
    """
    while True:
        link = _link(node, shape, task)
        if link is None:
            return
        yield link
        following = node.next_nodes[link.position]
        if (
            following is None
            or not following.is_pointwise
            or following.hooks is not None
            or following in task.buffers
            or following.sequence_nr < next_number
        ):
            return
        node = following


def _link(node: Node, shape: tuple[int, ...], task: GraphTask) -> _Link | None:
    """Return the link by which a node runs block by block; None if that would not be the same."""
    needs = node.next_nodes if task.needs is None else task.needs.get(node, ())
    positions = [
        position for position, grad_node in enumerate(node.next_nodes) if grad_node is not None
    ]
    if len(positions) != 1 or not any(needs):
        return None
    kept: list[tuple[str, Any, Array | None]] = []
    for slot in type(node).__slots__:
        value = getattr(node, slot, None)  # some are set only where the gradient is asked for
        array = value.array if type(value) is Tensor else value
        flat: Array | None = None
        if not isinstance(value, _SAME_FOR_ALL_BLOCKS) and getattr(array, "ndim", None) != 0:
            flat = _flat(array, shape)
            if flat is None:
                return None
        kept.append((slot, value, flat))
    return _Link(node, positions[0], kept)


def _flat(array: Any, shape: tuple[int, ...] | None = None) -> Array | None:
    """The elements in a row, without a copy; None if they do not lie so, or have another shape."""
    if type(array) is not np.ndarray or shape not in (None, array.shape):
        return None
    if array.flags.c_contiguous:
        return array.reshape(-1)
    if any(array.strides):
        return None
    return np.broadcast_to(array[(0,) * array.ndim], (array.size,))  # one number, as from a sum


def _passed_through(links: Sequence[_Link], grad: Array) -> Array:
    """Run a chain on a flat gradient, and return the flat gradient at its end."""

    def pass_through(parts: list[_Part], start: int, stop: int) -> Array:
        block = grad[start:stop]
        for part in parts:
            block = part.apply(block, start, stop)
        return block

    out = np.empty(grad.size, pass_through([_Part(link) for link in links], 0, 0).dtype)
    length = max(1, CHAIN_BLOCK_BYTES // grad.itemsize)

    def work(start: int, stop: int) -> None:
        parts = [_Part(link) for link in links]  # this thread's
        for begin in range(start, stop, length):
            end = min(begin + length, stop)
            out[begin:end] = pass_through(parts, begin, end)

    share(work, out.size)
    return out

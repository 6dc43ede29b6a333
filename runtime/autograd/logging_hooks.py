"""Logging of every node that runs in a backward pass, at level DEBUG."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ..core.node import Node, OutputNode
from ..graph.engine import current_pass_number
from .edges import TensorOrEdge, grad_node_of

if TYPE_CHECKING:
    from logging import Logger

_DEBUG = 10
"""`logging.DEBUG`, without importing the module, which is slow and seldom used."""


def is_logging() -> bool:
    """Return whether the logger is enabled, which the program must have imported `logging` for."""
    return "logging" in sys.modules and _log().isEnabledFor(_DEBUG)


@cache
def _log() -> Logger:
    from logging import getLogger

    return getLogger("gradspec.autograd.graph")


def register_logging_hooks_on_whole_graph(places: Iterable[TensorOrEdge]) -> Callable[[], None]:
    """Let every node below `places` log what arrives; return a function that stops this."""
    handles = [
        node.register_prehook(partial(_tell, node.name(), node.sequence_nr))
        for node in nodes_below(places)
    ]

    def unregister() -> None:
        for handle in handles:
            handle.remove()

    return unregister


def _tell(name: str, sequence_nr: int, grads: tuple[Any, ...]) -> None:
    shapes = ", ".join("None" if grad is None else _described(grad) for grad in grads)
    _log().debug(
        "Executing: %s (%s) in pass %s with [%s]", name, sequence_nr, current_pass_number(), shapes
    )


def _described(grad: Any) -> str:
    return f"{grad.dtype}{list(grad.shape)}"


def nodes_below(places: Iterable[TensorOrEdge]) -> Iterator[Node]:
    """Return every node once, without recursion."""
    stack = [node for place in places if (node := grad_node_of(place)) is not None]
    seen = set(stack)
    while stack:
        node = stack.pop()
        if not isinstance(node, OutputNode):
            yield node
        for grad_node in node.next_nodes:
            if grad_node is not None and grad_node not in seen:
                seen.add(grad_node)
                stack.append(grad_node)

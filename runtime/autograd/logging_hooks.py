"""Hooks by which every node of a backward pass logs, at level DEBUG, that it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ..core.node import Node, OutputNode
from ..graph.graph_task import current_task_number
from .edges import TensorOrEdge, grad_node_of

if TYPE_CHECKING:
    from logging import Logger

_DEBUG = 10
"""`logging.DEBUG`, without importing the module, which is slow and seldom used."""


def is_logging() -> bool:
    """Return whether level DEBUG is on: never before the program has imported `logging`."""
    return "logging" in sys.modules and _log().isEnabledFor(_DEBUG)


@cache
def _log() -> Logger:
    from logging import getLogger

    return getLogger("gradspec.autograd.graph")


def register_logging_hooks_on_whole_graph(roots: Iterable[TensorOrEdge]) -> Callable[[], None]:
    """Let every node below `roots` log what arrives; return what unregisters the hooks."""
    handles = [
        node.register_prehook(partial(_tell, node.name(), node.sequence_nr))
        for node in nodes_below(roots)
    ]

    def unregister() -> None:
        for handle in handles:
            handle.remove()

    return unregister


def _tell(name: str, sequence_nr: int, grads: tuple[Any, ...]) -> None:
    shapes = ", ".join("None" if grad is None else _described(grad) for grad in grads)
    _log().debug(
        "Executing: %s (%s) in pass %s with [%s]", name, sequence_nr, current_task_number(), shapes
    )


def _described(grad: Any) -> str:
    return f"{grad.dtype}{list(grad.shape)}"


def nodes_below(roots: Iterable[TensorOrEdge]) -> Iterator[Node]:
    """Yield every node, once, without recursion."""
    stack = [node for root in roots if (node := grad_node_of(root)) is not None]
    seen = set(stack)
    while stack:
        node = stack.pop()
        if not isinstance(node, OutputNode):
            yield node
        for grad_node in node.next_nodes:
            if grad_node is not None and grad_node not in seen:
                seen.add(grad_node)
                stack.append(grad_node)

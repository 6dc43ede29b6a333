"""Hooks by which every node of a backward pass logs, at level DEBUG, that it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ..graph.graph_task import current_task_number
from .edges import TensorOrEdge, nodes_below

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

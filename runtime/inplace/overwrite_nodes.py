"""Nodes of ops that replace what a tensor holds, and so pass zeros to what was there before."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..batching.batched import of_each_example
from ..core.node import Node, next_sequence_nr
from ..core.tensor import Tensor, wrap


class OverwriteNode(Node):
    """The node of an op that replaces every element: zeros for what was there before."""

    __slots__ = ()

    def __init__(self, *next_nodes: Node | None) -> None:
        self.next_nodes = next_nodes
        self.hooks = None
        self.sequence_nr = next_sequence_nr()

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """The VJP on arrays."""
        return (np.zeros_like(grad) if needs[0] else None,)

    def apply_differentiable(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """The VJP on tensors."""
        return (_zeros_like(grad) if needs[0] else None,)


@of_each_example
def _zeros_like(grad: Tensor) -> Tensor:
    return wrap(np.zeros_like(grad.array))


@functools.cache
def overwrite_node_of(name: str, number: int) -> type[OverwriteNode]:
    """The node of an in-place op without a slope: `EqBackward0` of `eq`, beside a tensor 1."""
    title = "".join(part.capitalize() for part in name.split("_"))
    return type(f"{title}Backward{number}", (OverwriteNode,), {"__slots__": ()})

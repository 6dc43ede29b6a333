"""Norms of gradients at each node of the graph: where they vanish or explode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..core.node import Node
from .edges import TensorOrEdge, nodes_below


class NodeFlow(NamedTuple):
    """Norm of the gradients that arrived at one node in a pass."""

    name: str
    sequence_nr: int
    norm: float
    """The Euclidean norm of all gradients that arrived."""
    flag: str
    """`vanishing`, `exploding`, `not finite`, or empty."""


class GradientFlow:
    """Norms found in backward passes, in the order in which the nodes ran."""

    def __init__(self, vanishing: float, exploding: float) -> None:
        self.records: list[NodeFlow] = []
        self._vanishing = vanishing
        self._exploding = exploding

    @np.errstate(all="ignore")
    def see(self, node_name: str, sequence_nr: int, grads: tuple[Any, ...]) -> None:
        """Record the norm of the gradients that arrive, as a prehook of the node."""
        squares = (np.sum(np.abs(g.array.astype(np.float64)) ** 2) for g in grads if g is not None)
        norm = float(np.sqrt(sum(squares)))
        self.records.append(NodeFlow(node_name, sequence_nr, norm, self._flag(norm)))

    def _flag(self, norm: float) -> str:
        if not np.isfinite(norm):
            return "not finite"
        if norm < self._vanishing:
            return "vanishing"
        return "exploding" if norm > self._exploding else ""

    @property
    def flagged(self) -> list[NodeFlow]:
        """Return the nodes that are flagged."""
        return [record for record in self.records if record.flag]

    def __str__(self) -> str:
        return "\n".join(f"{r.norm:12.4g}  {r.name}  {r.flag}".rstrip() for r in self.records)


@contextmanager
def gradient_flow(
    *roots: TensorOrEdge, vanishing: float = 1e-7, exploding: float = 1e4
) -> Iterator[GradientFlow]:
    """Watch the backward passes inside the block through the nodes below `roots`.

    A gradient whose norm is below `vanishing` or above `exploding` is flagged.
    """
    flow = GradientFlow(vanishing, exploding)
    handles = [_watch(node, flow) for node in nodes_below(roots)]
    try:
        yield flow
    finally:
        for handle in handles:
            handle.remove()


def _watch(node: Node, flow: GradientFlow) -> Any:
    return node.register_prehook(partial(flow.see, node.name(), node.sequence_nr))

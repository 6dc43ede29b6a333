"""`GradientEdge`: a place in the graph, without the tensor that was computed there."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from ..node import Node, OutputEdge
from ..tensor import Tensor


class GradientEdge(NamedTuple):
    """An output of a node, as a root or an input of `backward` and `grad`."""

    node: Node
    output_nr: int
    ownership_token: Any = None
    """The vertex of that output, which a node with several outputs does not know."""


TensorOrEdge: TypeAlias = Tensor | GradientEdge


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where the gradient of `tensor` goes; RuntimeError if it requires none."""
    vertex = tensor.edge
    if vertex is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    if isinstance(vertex, OutputEdge):
        return GradientEdge(vertex.node, vertex.output_nr, vertex)
    return GradientEdge(vertex, 0)


def vertex_of(place: TensorOrEdge) -> Node | None:
    """Where a gradient arrives; None for a tensor that requires none."""
    if isinstance(place, Tensor):
        return place.edge
    if isinstance(place.ownership_token, Node):
        return place.ownership_token
    if place.node.has_several_outputs:
        return OutputEdge(place.node, place.output_nr)
    return place.node

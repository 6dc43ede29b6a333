"""`GradientEdge`: an output of a node, without the tensor."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..core.node import AccumulateGrad, Node, OutputNode
from ..core.tensor import Tensor


class GradientEdge(NamedTuple):
    """Output of a node, as a root or an input of `backward` and `grad`."""

    node: Node
    output_nr: int
    ownership_token: Any = None
    """An `Origin`, where the edge was taken from a tensor."""


class Origin(NamedTuple):
    """Properties of an output that its node does not hold."""

    node: Node
    """The node of that output."""
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


TensorOrEdge: TypeAlias = Tensor | GradientEdge


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the edge to which the gradient of `tensor` flows; RuntimeError if it requires none."""
    node = tensor.grad_node
    if node is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    origin = Origin(node, tensor.array.shape, tensor.array.dtype)
    if isinstance(node, OutputNode):
        return GradientEdge(node.node, node.output_nr, origin)
    return GradientEdge(node, 0, origin)


def grad_node_of(place: TensorOrEdge) -> Node | None:
    """Return the node at which a gradient arrives; None for a tensor that requires none."""
    if isinstance(place, Tensor):
        return place.grad_node
    if isinstance(place.ownership_token, Origin):
        return place.ownership_token.node
    if place.node.has_several_outputs:
        return OutputNode(place.node, place.output_nr)
    return place.node


def shape_and_dtype(place: TensorOrEdge) -> tuple[tuple[int, ...], np.dtype[Any]] | None:
    """Return shape and dtype of an output; None for a hand-made edge whose node has neither."""
    if isinstance(place, Tensor):
        return place.array.shape, place.array.dtype
    if isinstance(place.ownership_token, Origin):
        return place.ownership_token.shape, place.ownership_token.dtype
    if isinstance(place.node, AccumulateGrad):
        return place.node.array.shape, place.node.array.dtype
    return None

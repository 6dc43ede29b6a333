"""`GradientEdge`: an output of a node of the graph, without the tensor that was computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..core.accumulate_grad import AccumulateGrad, leads_nowhere
from ..core.node import Node, OutputNode
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
    """Return the edge along which a gradient reaches `tensor`; RuntimeError if it has none.

    AssertionError for a view that requires grad but was made without gradients.
    """
    node = tensor.grad_node
    if node is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    if leads_nowhere(node):
        # PyTorch's type, too: there it is an `assert`.
        raise AssertionError("a view that was made without gradients has no gradient edge")
    origin = Origin(node, tensor.array.shape, tensor.array.dtype)
    if isinstance(node, OutputNode):
        return GradientEdge(node.node, node.output_nr, origin)
    return GradientEdge(node, 0, origin)


def grad_node_of(end: TensorOrEdge) -> Node | None:
    """Return the node at which a gradient arrives; None for a tensor that requires none."""
    if isinstance(end, Tensor):
        return end.grad_node
    if isinstance(end.ownership_token, Origin):
        return end.ownership_token.node
    if end.node.has_several_outputs:
        return OutputNode(end.node, end.output_nr)
    return end.node


def shape_and_dtype(end: TensorOrEdge) -> tuple[tuple[int, ...], np.dtype[Any]] | None:
    """Return those of the output; None for an edge made by hand, whose node does not know them."""
    if isinstance(end, Tensor):
        return end.array.shape, end.array.dtype
    if isinstance(end.ownership_token, Origin):
        return end.ownership_token.shape, end.ownership_token.dtype
    if isinstance(end.node, AccumulateGrad):
        return end.node.array.shape, end.node.array.dtype
    return None


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

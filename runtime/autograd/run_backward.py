"""The last step before the engine: roots and inputs as nodes of the graph."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..core.accumulate_grad import leads_nowhere
from ..core.modes import enable_grad, no_grad
from ..core.node import Node
from ..core.tensor import Tensor, wrap
from ..graph.engine import execute
from ..graph.leaf_gradients import fitted_tensor
from .edges import TensorOrEdge, grad_node_of, shape_and_dtype
from .logging_hooks import is_logging, register_logging_hooks_on_whole_graph


def run_backward(
    tensors: Sequence[TensorOrEdge],
    grad_tensors: Sequence[Tensor | None],
    keep_graph: bool,
    create_graph: bool,
    inputs: Sequence[TensorOrEdge] = (),
    allow_unreachable: bool = False,
    accumulate_grad: bool = False,
) -> tuple[Tensor | None, ...]:
    """Run a pass from `tensors`, each with its cotangent, and return the gradients of `inputs`.

    With `accumulate_grad` the gradients are added to `grad` instead: of `inputs`, or of every
    leaf if there are none. At logging level DEBUG every node tells when it runs. RuntimeError for
    a root that requires no gradient, and for an unused input unless `allow_unreachable`.
    """
    roots: list[Node] = []
    grads: list[Tensor] = []
    for root, grad in zip(tensors, grad_tensors, strict=True):
        node = root.grad_node if type(root) is Tensor else grad_node_of(root)
        if node is None or leads_nowhere(node):
            raise RuntimeError(
                f"element {len(roots)} of tensors does not require grad and does not have a grad_fn"
            )
        roots.append(node)
        grads.append(one_for(root) if grad is None else grad)
    captures = [_capture(of, accumulate_grad) for of in inputs] if inputs else None
    stop_logging = register_logging_hooks_on_whole_graph(tensors) if is_logging() else None
    try:
        found = execute(
            roots,
            grads,
            keep_graph=keep_graph,
            create_graph=create_graph,
            captures=captures,
            accumulates=accumulate_grad,
        )
    finally:
        if stop_logging is not None:
            stop_logging()
    if captures is None or accumulate_grad:
        return ()
    for place, of in enumerate(inputs):
        gradient = found[place]
        if gradient is not None and isinstance(of, Tensor) and not _is_like(gradient, of):
            with enable_grad() if create_graph else no_grad():
                found[place] = fitted_tensor(gradient, of)
    return _check_used(captures, found, allow_unreachable)


def _is_like(gradient: Tensor, of: Tensor) -> bool:
    return gradient.shape == of.shape and gradient.dtype == of.dtype


def one_for(root: TensorOrEdge) -> Tensor:
    """Return the cotangent that may be left out: 1.0, for a single real element."""
    known = shape_and_dtype(root)
    if known is None:
        raise RuntimeError(
            "grad can be implicitly created only for scalar outputs, and an edge made by hand does "
            "not say what was computed there: get_gradient_edge(tensor) does, or pass its gradient"
        )
    shape, dtype = known
    if math.prod(shape) != 1:
        raise RuntimeError(
            "grad can be implicitly created only for scalar outputs; this one has shape "
            f"{list(shape)}: sum it, or say what its gradient is"
        )
    if dtype.kind not in "fO":  # O: the symbols of a proof
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {dtype}"
        )
    return wrap(np.ones(shape, dtype) if shape else np.array(1, dtype))


def _capture(of: TensorOrEdge, keeps: bool) -> Node:
    """Return the node at which the gradient of an input is captured.

    If the pass `keeps` the gradients of its inputs, a result does so from now on.
    """
    if keeps and isinstance(of, Tensor):
        of.retain_grad()
    node = grad_node_of(of)
    if node is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return node


def _check_used(
    captures: Sequence[Node], found: Sequence[Tensor | None], allow_unreachable: bool
) -> tuple[Tensor | None, ...]:
    """Return the gradients; RuntimeError if one is missing, unless `allow_unreachable`."""
    # A view that was made without gradients counts as unused.
    grads = tuple(
        None if leads_nowhere(node) else grad for node, grad in zip(captures, found, strict=True)
    )
    if not allow_unreachable:
        refuse_unused(grads)
    return grads


def refuse_unused(grads: Sequence[Tensor | None]) -> None:
    """Raise RuntimeError if a gradient is missing."""
    for nr, grad in enumerate(grads):
        if grad is None:
            raise RuntimeError(
                f"The differentiated Tensor at index {nr} appears to not have been used in the "
                "graph. Set allow_unused=True if this is the desired behavior."
            )

"""`Variable` and its engine, under the names by which PyTorch's sources know them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..core.dtype_kinds import REAL_KINDS
from ..core.node import Node, leads_nowhere
from ..core.tensor import Tensor, wrap
from ..graph import engine
from .edges import TensorOrEdge, grad_node_of, shape_and_dtype


class ImperativeEngine:
    """The backward engine as an object; there is one, `Variable._execution_engine`."""

    def run_backward(
        self,
        tensors: Sequence[TensorOrEdge],
        grad_tensors: Sequence[Tensor | None],
        keep_graph: bool,
        create_graph: bool,
        inputs: Sequence[TensorOrEdge] = (),
        allow_unreachable: bool = False,
        accumulate_grad: bool = False,
    ) -> tuple[Tensor | None, ...]:
        """Run a pass from `tensors`, each with its cotangent, and answer the gradients of `inputs`.

        With `accumulate_grad` the gradients are added to `grad` instead: of `inputs`, or of every
        leaf if there are none. RuntimeError for a root that requires no gradient, and for an
        input that was not used unless `allow_unreachable`.
        """
        roots: list[Node] = []
        grads: list[Tensor] = []
        for place, grad in zip(tensors, grad_tensors, strict=True):
            node = place.grad_node if type(place) is Tensor else grad_node_of(place)
            if node is None:
                raise RuntimeError(
                    f"element {len(roots)} of tensors does not require grad and does not have a "
                    "grad_fn"
                )
            roots.append(node)
            grads.append(_one(place) if grad is None else grad)
        if not inputs:
            engine.execute(roots, grads, keep_graph=keep_graph, create_graph=create_graph)
            return ()
        targets = list(map(_target, inputs))
        if accumulate_grad:
            for place in inputs:
                if isinstance(place, Tensor):
                    place.retain_grad()  # by which a result keeps its gradient from now on
        arrived = engine.execute(
            roots,
            grads,
            keep_graph=keep_graph,
            create_graph=create_graph,
            outputs=targets,
            accumulates=accumulate_grad,
        )
        if accumulate_grad:
            return ()
        # A view that was made without gradients counts as unused, even by itself.
        arrived = [
            None if leads_nowhere(target) else grad
            for target, grad in zip(targets, arrived, strict=True)
        ]
        unused = [nr for nr, grad in enumerate(arrived) if grad is None]
        if unused and not allow_unreachable:
            raise RuntimeError(
                f"The differentiated Tensor at index {unused[0]} appears to not have been used in "
                "the graph. Set allow_unused=True if this is the desired behavior."
            )
        return tuple(arrived)


def _one(place: TensorOrEdge) -> Tensor:
    """The cotangent that may be left out: 1.0, for a single real element."""
    known = shape_and_dtype(place)
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
    if dtype.kind not in REAL_KINDS:
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {dtype}"
        )
    return wrap(np.ones(shape, dtype) if shape else np.array(1, dtype))


def _target(place: TensorOrEdge) -> Node:
    node = grad_node_of(place)
    if node is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return node


class VariableMeta(type):
    """Makes `isinstance(x, Variable)` true for every tensor."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class _LegacyVariableBase:
    """Calling it answers a tensor on the same memory, as when variables were not tensors yet."""

    def __new__(cls, data: Any, requires_grad: bool = False) -> Any:
        return data.detach().requires_grad_(requires_grad)


class Variable(_LegacyVariableBase, metaclass=VariableMeta):
    """The old name of a tensor that takes part in autograd."""

    _execution_engine: ClassVar[ImperativeEngine] = ImperativeEngine()

"""`once_differentiable`: a `backward` that cannot itself be differentiated."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..core.modes import is_grad_enabled, no_grad
from ..core.node import Node, next_sequence_nr
from ..core.tensor import Tensor
from .context import FunctionCtx


class _DifferentiatedTwice(Node):
    """Node of the results of a `once_differentiable` backward."""

    __slots__ = ()

    def __init__(self, next_nodes: tuple[Node | None, ...]) -> None:
        self.next_nodes = next_nodes
        self.hooks = None
        self.sequence_nr = next_sequence_nr()

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """Raise RuntimeError: there is no second derivative."""
        del grad, needs
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )

    apply_differentiable: Final = apply


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` that records no ops: differentiating it again is an error."""

    @functools.wraps(backward)
    def run(ctx: FunctionCtx, *grads: Tensor | None) -> Any:
        with no_grad():
            returned = backward(ctx, *grads)
        next_nodes = tuple(g.grad_node for g in grads if g is not None and g.grad_node is not None)
        if not is_grad_enabled() or not next_nodes:
            return returned
        if isinstance(returned, tuple):
            return tuple(_guarded(item, next_nodes) for item in returned)
        return _guarded(returned, next_nodes)

    return run


def _guarded(result: Any, next_nodes: tuple[Node | None, ...]) -> Any:
    if not isinstance(result, Tensor):
        return result
    guarded = result.detach()
    guarded.grad_node = _DifferentiatedTwice(next_nodes)
    return guarded

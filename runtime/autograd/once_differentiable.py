"""`once_differentiable`: a `backward` that cannot itself be differentiated."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..core.accumulate_grad import AccumulateGrad
from ..core.modes import is_grad_enabled, no_grad
from ..core.node import Node, next_sequence_nr
from ..core.tensor import Tensor
from .context import FunctionCtx


class Error(Node):
    """Node of the results of a `once_differentiable` backward.

    It leads, as in PyTorch, to new leaves in place of the results, not to what they depend on.
    """

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
        is_recorded = any(grad is not None and grad.requires_grad for grad in grads)
        if not is_grad_enabled() or not is_recorded:
            return returned
        results = returned if isinstance(returned, tuple) else (returned,)
        leaves = tuple(
            AccumulateGrad(result.detach()) if isinstance(result, Tensor) else None
            for result in results
        )
        guarded = tuple(_guarded(result, leaves) for result in results)
        return guarded if isinstance(returned, tuple) else guarded[0]

    return run


def _guarded(result: Any, next_nodes: tuple[Node | None, ...]) -> Any:
    if not isinstance(result, Tensor):
        return result
    guarded = result.detach()
    guarded.grad_node = Error(next_nodes)
    return guarded

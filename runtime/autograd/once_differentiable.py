"""`once_differentiable`: for a `backward` whose own gradient is not to be taken."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..core.modes import is_grad_enabled, no_grad
from ..core.node import Node, next_sequence_nr
from ..core.tensor import Tensor
from .context import FunctionCtx


class _DifferentiatedTwice(Node):
    """Stands behind the result of a `once_differentiable` backward."""

    __slots__ = ()

    def __init__(self, edges: tuple[Node | None, ...]) -> None:
        self.edges = edges
        self.hooks = None
        self.sequence_nr = next_sequence_nr()

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """Raise: this is as far as gradients go."""
        del grad, needs
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )

    apply_differentiable: Final = apply


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """For a `backward` that is not made of recorded ops: differentiating it again is an error."""

    @functools.wraps(backward)
    def run(ctx: FunctionCtx, *grads: Tensor | None) -> Any:
        with no_grad():
            returned = backward(ctx, *grads)
        edges = tuple(g.edge for g in grads if g is not None and g.edge is not None)
        if not is_grad_enabled() or not edges:
            return returned
        if isinstance(returned, tuple):
            return tuple(_guarded(item, edges) for item in returned)
        return _guarded(returned, edges)

    return run


def _guarded(result: Any, edges: tuple[Node | None, ...]) -> Any:
    if not isinstance(result, Tensor):
        return result
    guarded = result.detach()
    guarded.edge = _DifferentiatedTwice(edges)
    return guarded

"""Stochastic gradient descent."""

from __future__ import annotations

from ..core.tensor import Tensor, wrap
from .optimizer import (
    Array,
    Group,
    Optimizer,
    Parameters,
    State,
    check_implementation,
    check_options,
    decayed,
    number,
)


class SGD(Optimizer):
    """Gradient descent, on request with momentum, by PyTorch's formulas.

    The velocity is `momentum * velocity + (1 - dampening) * grad`, at the first step the
    gradient itself; `nesterov` looks one step ahead.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_options(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_implementation(foreach, differentiable, fused)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    def update(self, values: Array, grad: Array, state: State, group: Group) -> None:
        """Make one step against the gradient, or along it with `maximize`."""
        grad = decayed(values, grad, group)
        momentum = group["momentum"]
        if momentum:
            if state.get("momentum_buffer") is None:
                state["momentum_buffer"] = wrap(grad.copy())
            else:
                velocity = state["momentum_buffer"].array
                velocity *= momentum
                velocity += (1 - group["dampening"]) * grad
            velocity = state["momentum_buffer"].array
            grad = grad + momentum * velocity if group["nesterov"] else velocity
        values -= number(group["lr"]) * grad

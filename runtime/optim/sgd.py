"""Stochastic gradient descent."""

from __future__ import annotations

from ..core.tensor import wrap
from .optimizer import Array, Group, Optimizer, Parameters, State, check_not_negative


class SGD(Optimizer):
    """Gradient descent, on request with momentum, by PyTorch's formulas.

    The velocity is `momentum * velocity + (1 - dampening) * grad`, at the first step the
    gradient itself; `nesterov` looks one step ahead.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        check_not_negative(
            {
                "learning rate": lr,
                "momentum value": momentum,
                "weight_decay value": weight_decay,
            }
        )
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
            },
        )

    def update(self, values: Array, grad: Array, state: State, group: Group) -> None:
        """Make one step against the gradient, or along it with `maximize`."""
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"]:
            grad = grad + group["weight_decay"] * values
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
        values -= group["lr"] * grad

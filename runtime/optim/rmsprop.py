"""RMSprop: gradients divided by their running root mean square."""

from __future__ import annotations

import numpy as np

from ..core.tensor import Tensor
from .optimizer import (
    Array,
    Group,
    Optimizer,
    Parameters,
    State,
    advance,
    as_real,
    average,
    check_options,
    decayed,
    number,
    scalar,
    zeros,
)


class RMSprop(Optimizer):
    """RMSprop: gradients divided by their running root mean square, Hinton (2012).

    With `centered` it is the standard deviation; `eps` is added to the root.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 0.01,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "alpha": alpha,
                "eps": eps,
                "centered": centered,
                "weight_decay": weight_decay,
                "capturable": capturable,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
            },
        )

    def update(self, values: Array, grad: Array, state: State, group: Group) -> None:
        """Make one step; complex parameters are treated as pairs of real ones."""
        if not state:
            state["step"] = scalar(0)
            state["square_avg"] = zeros(values)
            if group["momentum"] > 0:
                state["momentum_buffer"] = zeros(values)
            if group["centered"]:
                state["grad_avg"] = zeros(values)
        advance(state)
        values, grad = as_real(values), as_real(decayed(values, grad, group))
        square = as_real(state["square_avg"].array)
        average(square, grad * grad, 1 - group["alpha"])
        if group["centered"]:
            mean = as_real(state["grad_avg"].array)
            average(mean, grad, 1 - group["alpha"])
            scale = np.sqrt(square - mean * mean)
        else:
            scale = np.sqrt(square)
        change = grad / (scale + group["eps"])
        if group["momentum"] > 0:
            velocity = as_real(state["momentum_buffer"].array)
            velocity *= group["momentum"]
            velocity += change
            change = velocity
        values -= number(group["lr"]) * change

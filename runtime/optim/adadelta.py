"""Adadelta: steps of the size of recent steps."""

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


class Adadelta(Optimizer):
    """Adadelta: gradients divided by their running root mean square, Zeiler (2012).

    Each step has the running root mean square of the steps before it.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr=lr)
        if not 0 <= rho <= 1:
            raise ValueError(f"Invalid rho value: {rho}")
        check_options(eps=eps, weight_decay=weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "rho": rho,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "capturable": capturable,
                "foreach": foreach,
                "differentiable": differentiable,
            },
        )

    def update(self, values: Array, grad: Array, state: State, group: Group) -> None:
        """Make one step; complex parameters are treated as pairs of real ones."""
        if not state:
            state["step"] = scalar(0)
            state["square_avg"] = zeros(values)
            state["acc_delta"] = zeros(values)
        advance(state)
        values, grad = as_real(values), as_real(decayed(values, grad, group))
        rho, eps = group["rho"], group["eps"]
        square, steps = as_real(state["square_avg"].array), as_real(state["acc_delta"].array)
        average(square, grad * grad, 1 - rho)
        delta = np.sqrt(steps + eps) / np.sqrt(square + eps) * grad
        average(steps, delta * delta, 1 - rho)
        values -= number(group["lr"]) * delta

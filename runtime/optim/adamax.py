"""Adamax: Adam with the largest recent gradient for a scale."""

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


class Adamax(Optimizer):
    """Adamax: the variant of Adam by the infinity norm, Kingma & Ba (2015)."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_options(lr=lr, eps=eps, betas=betas, weight_decay=weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def update(self, values: Array, grad: Array, state: State, group: Group) -> None:
        """Make one step; complex parameters are treated as pairs of real ones."""
        if not state:
            state["step"] = scalar(0)
            state["exp_avg"] = zeros(values)
            state["exp_inf"] = zeros(values)
        step = advance(state)
        values, grad = as_real(values), as_real(decayed(values, grad, group))
        beta1, beta2 = group["betas"]
        mean, largest = as_real(state["exp_avg"].array), as_real(state["exp_inf"].array)
        average(mean, grad, 1 - beta1)
        largest *= beta2
        np.maximum(largest, np.abs(grad) + group["eps"], out=largest)
        values -= number(group["lr"]) / (1 - beta1**step) * (mean / largest)

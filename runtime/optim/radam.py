"""RAdam: Adam that waits until its scale can be trusted."""

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
    number,
    root,
    scalar,
    shrunk_or_decayed,
    zeros,
)


class RAdam(Optimizer):
    """Rectified Adam, Liu et al. (2020).

    The first steps, whose mean square has too large a variance, are not scaled by it.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr=lr, eps=eps, betas=betas, weight_decay=weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "decoupled_weight_decay": decoupled_weight_decay,
                "differentiable": differentiable,
            },
        )

    def update(self, values: Array, grad: Array, state: State, group: Group) -> None:
        """Make one step; complex parameters are treated as pairs of real ones."""
        if not state:
            state["step"] = scalar(0)
            state["exp_avg"] = zeros(values)
            state["exp_avg_sq"] = zeros(values)
        values, grad = as_real(values), as_real(grad)
        step, lr = advance(state), number(group["lr"])
        grad = shrunk_or_decayed(values, grad, lr, group)
        beta1, beta2 = group["betas"]
        mean, square = as_real(state["exp_avg"].array), as_real(state["exp_avg_sq"].array)
        average(mean, grad, 1 - beta1)
        average(square, grad * grad, 1 - beta2)
        correction = 1 - beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / correction
        change = lr / (1 - beta1**step) * mean
        if longest <= 5:  # no step is as long as that, and the divisor below may be zero
            values -= change
            return
        rectified = (length - 4) * (length - 2) * longest
        rectified /= (longest - 4) * (longest - 2) * length
        adapted = root(np.maximum(rectified * correction, 0)) / (np.sqrt(square) + group["eps"])
        values -= change * np.where(length > 5, adapted, 1.0)

"""NAdam: Adam with Nesterov momentum."""

from __future__ import annotations

import numpy as np

from ..core.captured import as_number
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
    scalar,
    shrunk_or_decayed,
    zeros,
)


class NAdam(Optimizer):
    """Adam with Nesterov momentum, Dozat (2016).

    The momentum of step `t` is `beta1 * (1 - 0.96 ** (t * momentum_decay) / 2)`.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(
            lr=lr, eps=eps, betas=betas, weight_decay=weight_decay, momentum_decay=momentum_decay
        )
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
            },
        )

    def update(self, values: Array, grad: Array, state: State, group: Group) -> None:
        """Make one step; complex parameters are treated as pairs of real ones."""
        if not state:
            state["step"] = scalar(0)
            state["mu_product"] = scalar(1)
            state["exp_avg"] = zeros(values)
            state["exp_avg_sq"] = zeros(values)
        values, grad = as_real(values), as_real(grad)
        step, lr = advance(state), number(group["lr"])
        grad = shrunk_or_decayed(values, grad, lr, group)
        beta1, beta2 = group["betas"]
        decay = group["momentum_decay"]
        momentum = beta1 * (1 - 0.5 * 0.96 ** (step * decay))
        next_momentum = beta1 * (1 - 0.5 * 0.96 ** ((step + 1) * decay))
        product = state["mu_product"].array
        product *= momentum
        mean, square = as_real(state["exp_avg"].array), as_real(state["exp_avg_sq"].array)
        average(mean, grad, 1 - beta1)
        average(square, grad * grad, 1 - beta2)
        scale = np.sqrt(square / (1 - beta2**step)) + group["eps"]
        values -= lr * (1 - momentum) / (1 - as_number(product)) * (grad / scale)
        values -= lr * next_momentum / (1 - as_number(product) * next_momentum) * (mean / scale)

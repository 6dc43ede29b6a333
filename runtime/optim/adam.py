"""Adam, and AdamW, its variant with decoupled weight decay."""

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
    check_implementation,
    check_options,
    number,
    root,
    scalar,
    zeros,
)


class Adam(Optimizer):
    """Adam: steps scaled by running means of the gradient and its square, Kingma & Ba (2015).

    `weight_decay` is added to the gradient; with `decoupled_weight_decay` it shrinks the
    parameters instead. With `amsgrad` the mean square never decreases.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_options(lr=lr, eps=eps, betas=betas, weight_decay=weight_decay)
        if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
            raise ValueError("betas must be either both floats or both Tensors")
        for name, value in (("lr", lr), ("betas[0]", betas[0]), ("betas[1]", betas[1])):
            if isinstance(value, Tensor) and foreach and not capturable:
                raise ValueError(
                    f"{name} as a Tensor is not supported for capturable=False and foreach=True"
                )
        check_implementation(foreach, differentiable, fused)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": (number(betas[0]), number(betas[1])),
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
                "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

    def update(self, values: Array, grad: Array, state: State, group: Group) -> None:
        """Make one step; complex parameters are treated as pairs of real ones."""
        if not state:
            state["step"] = scalar(0, group["fused"])
            state["exp_avg"] = zeros(values)
            state["exp_avg_sq"] = zeros(values)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = zeros(values)
        values, grad = as_real(values), as_real(grad)
        if group["maximize"]:
            grad = -grad
        lr = number(group["lr"])
        beta1, beta2 = group["betas"]
        if group["weight_decay"] and group["decoupled_weight_decay"]:
            values *= 1 - lr * group["weight_decay"]
        elif group["weight_decay"]:
            grad = grad + group["weight_decay"] * values
        step = advance(state)
        mean, square = as_real(state["exp_avg"].array), as_real(state["exp_avg_sq"].array)
        mean += (grad - mean) * (1 - beta1)
        square *= beta2
        square += (1 - beta2) * grad * grad
        if group["amsgrad"]:
            largest = as_real(state["max_exp_avg_sq"].array)
            np.maximum(largest, square, out=largest)
            square = largest
        mean_correction = 1 - beta1**step
        square_correction = 1 - beta2**step
        scale = np.sqrt(square) / root(square_correction) + group["eps"]
        values -= lr / mean_correction * (mean / scale)


class AdamW(Adam):
    """AdamW: Adam whose weight decay shrinks the parameters, Loshchilov & Hutter (2019)."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

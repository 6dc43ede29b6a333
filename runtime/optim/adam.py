"""Adam, and AdamW, its variant with decoupled weight decay."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from ..core.tensor import Tensor, wrap
from .optimizer import Array, Group, Optimizer, Parameters, State, check_not_negative


class Adam(Optimizer):
    """Adam: steps scaled by running means of the gradient and its square, Kingma & Ba (2015).

    `weight_decay` is added to the gradient. With `amsgrad` the mean square never decreases.
    """

    decouples_weight_decay: ClassVar[bool] = False

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        check_not_negative(
            {"learning rate": lr, "epsilon value": eps, "weight_decay value": weight_decay}
        )
        for index, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
            },
        )

    def update(self, values: Array, grad: Array, state: State, group: Group) -> None:
        """Make one step; complex parameters are treated as pairs of real ones."""
        if group["maximize"]:
            grad = -grad
        values, grad = _as_real(values), _as_real(grad)
        beta1, beta2 = group["betas"]
        if group["weight_decay"] and self.decouples_weight_decay:
            values *= 1 - group["lr"] * group["weight_decay"]
        elif group["weight_decay"]:
            grad = grad + group["weight_decay"] * values
        if not state:
            state["step"] = 0
            state["exp_avg"] = _zeros(values)
            state["exp_avg_sq"] = _zeros(values)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = _zeros(values)
        state["step"] += 1
        mean, square = state["exp_avg"].array, state["exp_avg_sq"].array
        mean += (grad - mean) * (1 - beta1)
        square *= beta2
        square += (1 - beta2) * grad * grad
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"].array
            np.maximum(largest, square, out=largest)
            square = largest
        mean_correction = 1 - beta1 ** state["step"]
        square_correction = 1 - beta2 ** state["step"]
        scale = np.sqrt(square) / math.sqrt(square_correction) + group["eps"]
        values -= group["lr"] / mean_correction * (mean / scale)


class AdamW(Adam):
    """AdamW: Adam whose weight decay shrinks the parameters, Loshchilov & Hutter (2019)."""

    decouples_weight_decay = True

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


def _as_real(array: Array) -> Array:
    # A last axis for the two parts makes the view possible for any layout.
    return array[..., None].view(array.real.dtype) if array.dtype.kind == "c" else array


def _zeros(array: Array) -> Tensor:
    return wrap(np.zeros_like(array))

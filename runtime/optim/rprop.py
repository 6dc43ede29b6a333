"""Rprop: steps by the sign of the gradient."""

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
    check_options,
    number,
    scalar,
    zeros,
)


class Rprop(Optimizer):
    """Resilient backpropagation: only signs of gradients count, Riedmiller & Braun (1993).

    Each element has a step size, which grows by `etas[1]` while the sign of its gradient stays,
    and shrinks by `etas[0]` where it changes; there the element rests for a step.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 0.01,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr=lr)
        if not 0 < etas[0] < 1 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(
            params,
            {
                "lr": lr,
                "etas": etas,
                "step_sizes": step_sizes,
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
            state["prev"] = zeros(values)
            state["step_size"] = zeros(values)
            as_real(state["step_size"].array)[...] = number(group["lr"])
        advance(state)
        values, grad = as_real(values), as_real(grad)
        if group["maximize"]:
            grad = -grad
        before, size = as_real(state["prev"].array), as_real(state["step_size"].array)
        agreement = np.sign(grad * before)
        shrink, grow = group["etas"]
        size *= np.where(agreement > 0, grow, np.where(agreement < 0, shrink, 1)).astype(size.dtype)
        np.clip(size, *group["step_sizes"], out=size)
        grad = np.where(agreement < 0, grad.dtype.type(0), grad)
        values -= np.sign(grad) * size
        before[...] = grad

"""Adagrad: gradients divided by the root of the sum of all their squares."""

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
    decayed,
    number,
    scalar,
    zeros,
)


class Adagrad(Optimizer):
    """Adagrad: gradients divided by the root of the sum of their squares, Duchi et al. (2011).

    The learning rate of step `t` is `lr / (1 + (t - 1) * lr_decay)`.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 0.01,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_options(
            lr=lr,
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            eps=eps,
        )
        check_implementation(foreach, differentiable, fused)
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "eps": eps,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "fused": fused,
            },
        )
        for group in self.param_groups:
            for param in group["params"]:
                self._begin(param.array, self.state[param], group)

    def update(self, values: Array, grad: Array, state: State, group: Group) -> None:
        """Make one step; complex parameters are treated as pairs of real ones."""
        if not state:
            self._begin(values, state, group)
        step = advance(state)
        values, grad = as_real(values), as_real(decayed(values, grad, group))
        total = as_real(state["sum"].array)
        total += grad * grad
        rate = number(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        values -= rate * (grad / (np.sqrt(total) + group["eps"]))

    def _begin(self, values: Array, state: State, group: Group) -> None:
        state["step"] = scalar(0, group["fused"])
        state["sum"] = zeros(values)
        as_real(state["sum"].array)[...] = group["initial_accumulator_value"]

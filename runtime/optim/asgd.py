"""Averaged stochastic gradient descent."""

from __future__ import annotations

from typing import Any

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
    at_least,
    check_options,
    decayed,
    number,
    scalar,
    zeros,
)


class ASGD(Optimizer):
    """Averaged stochastic gradient descent, Polyak & Juditsky (1992).

    The learning rate of step `t` is `lr / (1 + lambd * lr * t) ** alpha`; the average of the
    parameters is in the state, as `ax`, and begins after `t0` steps.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 0.01,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_options(lr=lr, weight_decay=weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "lambd": lambd,
                "alpha": alpha,
                "t0": t0,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def update(self, values: Array, grad: Array, state: State, group: Group) -> None:
        """Make one step; complex parameters are treated as pairs of real ones."""
        lr, lambd = group["lr"], group["lambd"]
        if not state:
            state["step"] = scalar(0)
            state["eta"] = scalar(number(lr))
            state["mu"] = scalar(1)
            state["ax"] = zeros(values)
        values, grad = as_real(values), as_real(decayed(values, grad, group))
        step = advance(state)
        eta, weight = as_number(state["eta"].array), as_number(state["mu"].array)
        values *= 1 - lambd * eta
        values -= eta * grad
        mean = as_real(state["ax"].array)
        moved = mean + (values - mean) * weight
        mean[...] = np.where(weight == 1, values, moved)  # of the first steps, to the last bit
        # Rounded to the default dtype, whatever that of a loaded state is, but for rates that are
        # tensors: these keep their own.
        rate = lr.array if isinstance(lr, Tensor) else lr
        slowed: Any = rate / (1 + lambd * rate * step) ** group["alpha"]
        state["eta"].array[...] = _as_state(slowed)
        state["mu"].array[...] = _as_state(1 / at_least(step - group["t0"], 1))


def _as_state(value: Any) -> Any:
    return scalar(value).array if type(value) is float else value

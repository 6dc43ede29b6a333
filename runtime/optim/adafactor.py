"""Adafactor: Adam with a mean square of few numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.captured import as_number
from ..core.tensor import Tensor, wrap
from .optimizer import (
    Array,
    Group,
    Optimizer,
    Parameters,
    State,
    advance,
    at_least,
    at_most,
    average,
    check_one_element,
    number,
    root,
    scalar,
    zeros,
)


class Adafactor(Optimizer):
    """Adafactor: the mean squares of a matrix from those of its rows and columns.

    Shazeer & Stern (2018), with the choices of PyTorch: `lr` bounds the relative step size, and
    `weight_decay` shrinks the parameters. `eps` are the smallest mean square (None: the epsilon of
    the dtype) and the smallest root mean square of the parameters; `d` bounds that of a step.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_ranges(lr, beta2_decay, eps, d, weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "beta2_decay": beta2_decay,
                "eps": eps,
                "d": d,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
            },
        )

    def update(self, values: Array, grad: Array, state: State, group: Group) -> None:
        """Make one step; RuntimeError for complex parameters."""
        if values.dtype.kind == "c":
            raise RuntimeError("Adafactor does not support complex parameters")
        if not state:
            state["step"] = scalar(0)
            if grad.ndim > 1:
                state["row_var"] = wrap(np.zeros_like(grad[..., :1]))
                state["col_var"] = wrap(np.zeros_like(grad[..., :1, :]))
            else:
                state["variance"] = zeros(grad)
        if group["maximize"]:
            grad = -grad
        step, lr = advance(state), number(group["lr"])
        smallest, smallest_scale = group["eps"]
        if smallest is None:
            smallest = float(np.finfo(values.dtype).eps)
        size = at_least(_root_mean_square(values), smallest_scale) * at_most(1 / root(step), lr)
        if group["weight_decay"]:
            values *= 1 - lr * group["weight_decay"]
        square = _mean_squares(grad, state, step ** group["beta2_decay"], smallest)
        change = grad / np.sqrt(np.maximum(square, smallest * smallest))
        values -= size / at_least(_root_mean_square(change) / group["d"], 1.0) * change


def check_ranges(
    lr: float | Tensor,
    beta2_decay: float,
    eps: tuple[float | None, float],
    d: float,
    weight_decay: float,
) -> None:
    """Raise ValueError, in PyTorch's words, for the first option that is out of its range."""
    check_one_element("lr", lr)
    if not number(lr) >= 0:
        raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
    if not beta2_decay <= 0:
        raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
    for index, value in enumerate(eps):
        if value is not None and not value >= 0:
            raise ValueError(f"epsilon{index + 1} should be >= 0 but is: {value}")
    if not d >= 1:
        raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
    if not weight_decay >= 0:
        raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")


def _mean_squares(grad: Array, state: State, weight: float, smallest: float) -> Array:
    """Move the running mean squares by `weight` to the new ones; return an estimate of all."""
    squares = grad * grad
    if grad.ndim < 2:
        average(state["variance"].array, squares, weight)
        found: Array = state["variance"].array
        return found
    rows, columns = state["row_var"].array, state["col_var"].array
    average(rows, squares.mean(axis=-1, keepdims=True), weight)
    average(columns, squares.mean(axis=-2, keepdims=True), weight)
    return rows @ columns / np.maximum(rows.mean(axis=-2, keepdims=True), smallest)


def _root_mean_square(values: Array) -> Any:
    return as_number(np.linalg.norm(values)) / math.sqrt(values.size)

"""Muon: orthogonalised momentum for the matrices of a network."""

from __future__ import annotations

import math

import numpy as np

from ..core.tensor import Tensor
from .optimizer import (
    Array,
    Group,
    Optimizer,
    Parameters,
    State,
    average,
    check_one_element,
    number,
    zeros,
)


class Muon(Optimizer):
    """Momentum whose singular values are made about equal, Jordan et al. (2024).

    Only for matrices. The Newton-Schulz iteration rounds to bfloat16, as PyTorch's does: changes
    have two or three digits.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_one_element("lr", lr)
        if not number(lr) >= 0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not momentum >= 0:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if not weight_decay >= 0:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        if ns_steps >= 100:
            raise ValueError("Number of steps must be less than 100 for computational efficiency")
        if len(ns_coefficients) != 3:
            raise ValueError("Coefficients must be a tuple of exactly 3 values")
        super().__init__(
            params,
            {
                "lr": lr,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "nesterov": nesterov,
                "ns_coefficients": ns_coefficients,
                "eps": eps,
                "ns_steps": ns_steps,
                "adjust_lr_fn": adjust_lr_fn,
            },
        )
        for group in self.param_groups:
            for param in group["params"]:
                if param.ndim != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with size: "
                        f"{param.size()}"
                    )

    def update(self, values: Array, grad: Array, state: State, group: Group) -> None:
        """Make one step; RuntimeError for complex parameters."""
        if values.dtype.kind == "c":
            raise RuntimeError("Muon does not support complex parameters")
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = zeros(grad)
        lr, momentum = number(group["lr"]), group["momentum"]
        velocity = state["momentum_buffer"].array
        average(velocity, grad, 1 - momentum)
        change = grad + momentum * (velocity - grad) if group["nesterov"] else velocity
        change = orthogonalized(change, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = values.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            ratio = 0.2 * math.sqrt(max(rows, columns))
        else:
            ratio = math.sqrt(max(1, rows / columns))
        values *= 1 - lr * group["weight_decay"]
        values -= lr * ratio * change


def orthogonalized(
    matrix: Array, coefficients: tuple[float, float, float], steps: int, eps: float
) -> Array:
    """Make the singular values of a matrix about 1, by Newton-Schulz iteration; float32.

    A step takes each singular value `s` to `a s + b s^3 + c s^5`.
    """
    a, b, c = (np.float32(coefficient) for coefficient in coefficients)
    is_tall = matrix.shape[0] > matrix.shape[1]
    found = to_bfloat16(matrix.T if is_tall else matrix)
    norm = to_bfloat16(np.sqrt(np.sum(found * found, keepdims=True)))
    found = to_bfloat16(found / np.maximum(norm, np.float32(eps)))
    for _ in range(steps):
        gram = to_bfloat16(found @ found.T)
        change = to_bfloat16(b * gram + c * (gram @ gram))
        found = to_bfloat16(a * found + change @ found)
    return found.T if is_tall else found


def to_bfloat16(values: Array) -> Array:
    """Round to the nearest number of bfloat16, ties to even; they are kept in float32.

    Beside a number that is 2^16 times as large, no more bits have room. Compiled steps record this,
    and could not record bits.
    """
    values = values.astype(np.float32)
    with np.errstate(divide="ignore"):  # of zero, which stays zero
        large = 1.5 * np.exp2(np.floor(np.log2(np.abs(values))) + 16)
    rounded: Array = (values + large) - large
    return rounded

"""The negative log likelihood, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .checks import Array


def nll_loss(
    self: Array, target: Array, weight: Array | None, ignore_index: int, reduction: str
) -> Any:
    """`-weight[t] * self[t]` of one row, or of each row of a batch."""
    _check(self.shape, target, ignore_index)
    rows, factors, total = _factors(self, target, weight, ignore_index, reduction)
    picked = self[..., rows] if self.ndim == 1 else self[np.arange(len(target)), rows]
    losses = -factors * picked
    if reduction == "none":
        return losses
    return losses.sum() / total if reduction == "mean" else losses.sum()


def nll_loss_backward(
    self: Array,
    shape: Sequence[int],
    target: Array,
    weight: Array | None,
    ignore_index: int,
    reduction: str,
) -> Array:
    """Zeros of the shape of the log-probabilities, with the gradient at the target classes."""
    rows, factors, total = _factors(self, target, weight, ignore_index, reduction)
    out = np.zeros_like(self, shape=shape)
    values = -factors * (self / total if reduction == "mean" else self)
    if len(shape) == 1:
        out[rows] = values
    else:
        out[np.arange(len(target)), rows] = values
    return out


def _factors(
    self: Array, target: Array, weight: Array | None, ignore_index: int, reduction: str
) -> tuple[Array, Any, Any]:
    """The class of each row, its weight (zero where ignored), and the sum of the weights."""
    kept = target != ignore_index
    rows = np.where(kept, target, 0)
    factors = kept.astype(self.dtype) if weight is None else np.where(kept, weight[rows], 0)
    return rows, factors, factors.sum() if reduction == "mean" else None


def _check(shape: Sequence[int], target: Array, ignore_index: int) -> None:
    if len(shape) not in (1, 2):
        raise RuntimeError("input tensor should be 1D or 2D")
    if target.dtype.kind not in "iu":
        raise RuntimeError(f"expected scalar type Long but found {target.dtype}")
    if target.shape != tuple(shape[:-1]):
        raise ValueError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size "
            f"({target.size})."
        )
    outside = (target != ignore_index) & ((target < 0) | (target >= shape[-1]))
    if outside.any():
        raise IndexError(f"Target {target[outside].flat[0]} is out of bounds.")

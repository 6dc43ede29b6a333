"""Losses that are more than one expression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...fast.clip import at_least, at_most
from ...fast.parallel_for import in_threads
from ..elementwise.checks import ArgumentError, Array, floating, same_dtype

_max_reduce: Any = np.maximum.reduce
_UNSIGNED = {size: (np.dtype(f"u{size}"), 1 << (8 * size - 1)) for size in (1, 2, 4, 8)}
"""By size in bytes: the unsigned integers, and what negative ones become at least."""


def reduced(self: Array, reduction: str) -> Any:
    """All elements, their mean or their sum."""
    if reduction == "mean":
        return np.add.reduce(self, None) / self.size
    if reduction == "sum":
        return np.add.reduce(self, None)
    _check_reduction(reduction)
    return self


def unreduced(self: Array, shape: Sequence[int], reduction: str) -> Array:
    """The gradient of a reduced loss, spread over its elements."""
    if reduction == "none":
        return self
    out = np.empty(shape, self.dtype)
    out[...] = self / out.size if reduction == "mean" else self
    return out


def mse_loss(self: Array, target: Array, reduction: str) -> Any:
    """Squared differences, reduced."""
    floating("mse_cpu", self)
    return reduced(np.square(self - target), reduction)


def _check_reduction(reduction: str) -> None:
    if reduction not in ("none", "mean", "sum"):
        raise ArgumentError(f"{reduction} is not a valid value for reduction")


def binary_cross_entropy_with_logits(
    self: Array, target: Array, weight: Array | None, pos_weight: Array | None, reduction: str
) -> Any:
    """`-w * (p * t * log(s) + (1 - t) * log(1 - s))` with `s` the logistic function."""
    if self.shape != target.shape:
        raise ArgumentError(
            f"Target size ({list(target.shape)}) must be the same as input size "
            f"({list(self.shape)})"
        )
    positive = target if pos_weight is None else target * pos_weight
    # log(1 + exp(x)) is max(x, 0) and this; log(1 + exp(-x)) is max(-x, 0) and this.
    rest = in_threads(np.log1p, in_threads(np.exp, -np.abs(self)))
    loss = (1 - target) * (at_least(self, 0) + rest) + positive * (rest - at_most(self, 0))
    return reduced(loss if weight is None else loss * weight, reduction)


def nll_loss(
    self: Array, target: Array, weight: Array | None, ignore_index: int, reduction: str
) -> Any:
    """`-weight[t] * self[t]` of one row, or of each row of a batch."""
    if self.ndim not in (1, 2):
        raise RuntimeError("input tensor should be 1D or 2D")
    return _nll_loss(self, target, weight, ignore_index, reduction)


def nll_loss2d(
    self: Array, target: Array, weight: Array | None, ignore_index: int, reduction: str
) -> Any:
    """`-weight[t] * self[t]` of each pixel, classes in dimension 1."""
    if self.ndim != 4:
        raise RuntimeError(f"expected input to be a 4D tensor, but got {self.ndim} dimensions")
    return _nll_loss(self, target, weight, ignore_index, reduction)


def _nll_loss(
    self: Array, target: Array, weight: Array | None, ignore_index: int, reduction: str
) -> Any:
    _check_reduction(reduction)
    if weight is not None:
        same_dtype("nll_loss", self, weight)
    classes = _classes(self.shape, target)
    all_count = _all_count(target, classes, ignore_index)
    if not all_count:
        _check_range(target, classes, ignore_index)
    place, factors = _picked(target, weight, all_count, ignore_index, self.dtype)
    losses = -self[place] if factors is None else -factors * self[place]
    if reduction == "none":
        return losses
    total = np.add.reduce(losses, None)
    return total / _total(factors, target) if reduction == "mean" else total


def nll_loss_backward(
    self: Array,
    shape: Sequence[int],
    target: Array,
    weight: Array | None,
    ignore_index: int,
    reduction: str,
) -> Array:
    """Zeros of the shape of the log-probabilities, with the gradient at the target classes."""
    all_count = _all_count(target, shape[0] if len(shape) == 1 else shape[1], ignore_index)
    place, factors = _picked(target, weight, all_count, ignore_index, self.dtype)
    out = np.zeros(shape, self.dtype)
    if reduction == "mean":
        total = _total(factors, target)
        if total == 0:  # every row is ignored
            return out
        self = self / total
    out[place] = -self if factors is None else -factors * self
    return out


def _picked(
    target: Array, weight: Array | None, all_count: bool, ignore_index: int, dtype: Any
) -> tuple[tuple[Any, ...], Any]:
    """The key of the target classes, and the weight of each, zero where ignored.

    None for the weights where all of them are one.
    """
    classes = target
    factors = None
    if all_count:
        if weight is not None:
            factors = weight[classes]
    else:
        kept = target != ignore_index
        classes = np.where(kept, target, 0)
        factors = kept.astype(dtype) if weight is None else np.where(kept, weight[classes], 0)
    if not target.ndim:
        return (classes,), factors
    if target.ndim == 1:
        return (np.arange(len(target)), classes), factors
    grids: list[Any] = list(np.ogrid[tuple(slice(length) for length in target.shape)])
    return (grids[0], classes, *grids[1:]), factors


def _total(factors: Any, target: Array) -> Any:
    """What a mean divides by: the weights of the rows that count."""
    return target.size if factors is None else np.add.reduce(factors, None)


def _classes(shape: Sequence[int], target: Array) -> int:
    """The number of classes, for a target that fits log-probabilities of this shape."""
    if target.dtype.kind not in "iu":
        raise RuntimeError(f"expected scalar type Long but found {target.dtype}")
    if target.shape != (*shape[:1], *shape[2:])[len(shape) == 1 :]:
        raise ArgumentError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size ({target.size})."
        )
    return shape[0] if len(shape) == 1 else shape[1]


def _all_count(target: Array, classes: int, ignore_index: int) -> bool:
    """Whether every target is a class, and none of them is the ignored one.

    Read as unsigned, negative numbers are large: one comparison tells, and most targets pass it.
    """
    unsigned, negative = _UNSIGNED[target.dtype.itemsize]
    if not target.size or 0 <= ignore_index < classes or classes > negative:
        return False
    return bool(_max_reduce(target.view(unsigned), None) < classes)


def _check_range(target: Array, classes: int, ignore_index: int) -> None:
    outside = (target != ignore_index) & ((target < 0) | (target >= classes))
    if outside.any():
        raise IndexError(f"Target {target[outside].flat[0]} is out of bounds.")

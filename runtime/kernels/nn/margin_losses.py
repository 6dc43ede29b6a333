"""Losses of margins, and what they ask of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtype_kinds import is_symbolic
from ...fast.clip import at_least
from ..elementwise.checks import ArgumentError, Array, floating, same_dtype
from .loss import reduced


def soft_margin_loss(self: Array, target: Array, reduction: str) -> Any:
    """`log(1 + exp(-target * self))`, which does not overflow."""
    return reduced(np.logaddexp(0, -(target * self)), reduction)


def multi_margin_loss(
    self: Array, target: Array, p: int, margin: float, weight: Array | None, reduction: str
) -> Any:
    """The mean over the other classes `c` of `max(0, margin - self[target] + self[c]) ** p`."""
    if p not in (1, 2):
        raise ArgumentError("only p == 1 and p == 2 supported")
    _check_classes(self, target, weight)
    classes = self.shape[-1] if self.ndim else 1
    rows, place = self.reshape(-1, classes), target.reshape(-1, 1)
    gap = at_least(margin - np.take_along_axis(rows, place, 1) + rows, 0)
    np.put_along_axis(gap, place, 0, 1)
    losses = np.add.reduce(gap if p == 1 else gap * gap, 1) / classes
    if weight is not None:
        losses = losses * weight[place[:, 0]]
    return reduced(losses.reshape(target.shape), reduction)


def _check_classes(self: Array, target: Array, weight: Array | None) -> None:
    floating("multi_margin_loss", self)
    if self.ndim > 2 or not all(self.shape[1:] or self.shape):
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(self.shape)}"
        )
    count = self.shape[0] if self.ndim == 2 else 1
    if target.ndim > 1 or target.size != count or (self.ndim == 2 and not target.ndim):
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of "
            f"input samples. Expected target size [{count}], but got {list(target.shape)}"
        )
    if target.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype}")
    classes = self.shape[-1] if self.ndim else 1
    if ((target < 0) | (target >= classes)).any():
        raise RuntimeError("target out of range")
    if weight is not None:
        if weight.ndim != 1:
            raise ArgumentError("weight must be one-dimensional")
        if weight.size != classes:
            raise RuntimeError(
                f"inconsistent weight size, expected {classes} but got {list(weight.shape)}"
            )
        same_dtype("multi_margin_loss", self, weight)


def same_ndim(self: Array, others: Sequence[Array], op: str) -> Array:
    """The array itself; RuntimeError unless all have as many dimensions."""
    if any(other.ndim != self.ndim for other in others):
        sizes = ", ".join(str(list(array.shape)) for array in (*others, self))
        raise RuntimeError(
            f"{op}: All input tensors should have same dimension but got sizes: {sizes}"
        )
    return self.view()


def one_label_each(self: Array, others: Sequence[Array]) -> Array:
    """The array itself; RuntimeError unless it has a label for each pair of vectors."""
    if self.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if any(other.ndim != self.ndim + 1 for other in others):
        sizes = " and ".join(str(list(other.shape)) for other in others)
        raise RuntimeError(
            f"{self.ndim}D target tensor expects {self.ndim + 1}D input tensors, but found inputs "
            f"with sizes {sizes}."
        )
    return self.view()


def anchor(self: Array, others: Sequence[Array], margin: float) -> Array:
    """The array itself; ValueError unless `margin` is positive."""
    if margin <= 0:
        raise ArgumentError(f"margin must be greater than 0, got {margin}")
    return same_ndim(self, others, "triplet_margin_loss")


def variance(self: Array, shape: Sequence[int], eps: float) -> Array:
    """Variances, at least `eps`, that broadcast to `shape`; ValueError if they cannot."""
    if not is_symbolic(self.dtype) and (self < 0).any():  # of symbols the domain says so
        raise ArgumentError("var has negative entry/entries")
    if self.shape == tuple(shape):
        whole = self
    elif self.shape == tuple(shape[:-1]):
        whole = self[..., None]
    elif self.ndim == len(shape) and _lengths_of_difference(self.shape, shape) == [1]:
        whole = self
    else:
        raise ArgumentError("var is of incorrect size")
    return at_least(whole, eps)


def _lengths_of_difference(own: Sequence[int], wanted: Sequence[int]) -> list[int]:
    return [a for a, b in zip(own, wanted, strict=True) if a != b]

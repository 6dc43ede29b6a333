"""Losses of elements, reduced."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...fast.clip import at_least, at_most
from ..elementwise.checks import ArgumentError, Array, floating
from .loss import reduced


def binary_cross_entropy(self: Array, target: Array, weight: Array | None, reduction: str) -> Any:
    """`-w * (t * log(p) + (1 - t) * log(1 - p))`, each logarithm at least -100."""
    floating("binary_cross_entropy", self)
    if self.shape != target.shape:
        raise ArgumentError(
            f"Using a target size ({list(target.shape)}) that is different to the input size "
            f"({list(self.shape)}) is deprecated. Please ensure they have the same size."
        )
    for name, array in (("input", self), ("target", target)):
        # The domain says so of symbols already.
        if array.dtype.kind == "f" and not ((array >= 0) & (array <= 1)).all():
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    below, above = at_least(np.log(self), -100), at_least(np.log1p(-self), -100)
    loss = -target * below - (1 - target) * above
    return reduced(loss if weight is None else loss * weight, reduction)


def smooth_l1_loss(self: Array, target: Array, reduction: str, beta: float) -> Any:
    """`d² / (2 beta)` where `|d| < beta`, `|d| - beta / 2` elsewhere."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    distance = np.abs(self - target)
    if beta == 0:
        return reduced(distance, reduction)
    near = at_most(distance, beta)
    return reduced(near * (distance - near * 0.5) / beta, reduction)


def huber_loss(self: Array, target: Array, reduction: str, delta: float) -> Any:
    """`d² / 2` where `|d| <= delta`, `delta (|d| - delta / 2)` elsewhere."""
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    distance = np.abs(self - target)
    near = at_most(distance, delta)
    return reduced(near * (distance - near * 0.5), reduction)

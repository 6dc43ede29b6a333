"""Losses that are more than one expression, and checks of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dtypes.kinds import is_symbolic
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
    out: Array = np.empty_like(self, order="C", shape=shape)
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
    rest = np.log1p(np.exp(-np.abs(self)))
    loss = (1 - target) * (np.maximum(0, self) + rest) + positive * (rest - np.minimum(0, self))
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
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {list(weight.shape)}"
        )
    all_count = _all_count(target, classes, ignore_index)
    if not all_count:
        _check_range(target, classes, ignore_index)
    place, factors = _picked(target, weight, all_count, ignore_index, self.dtype)
    losses = _weighted(-self[place], factors, target, all_count, ignore_index)
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
    out[place] = _weighted(-self, factors, target, all_count, ignore_index)
    return out


def _weighted(
    values: Any, factors: Any, target: Array, all_count: bool, ignore_index: int
) -> Array | Any:
    """Values times their weights; zero where ignored, also in the place of nan or infinity."""
    if factors is None:
        return values
    weighted = factors * values
    return weighted if all_count else np.where(target != ignore_index, weighted, 0)


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
    """Sum the weights of the rows that count, by which a mean divides."""
    return target.size if factors is None else np.add.reduce(factors, None)


def _classes(shape: Sequence[int], target: Array) -> int:
    """The number of classes, for a target that fits log-probabilities of this shape."""
    if target.dtype.kind not in "iu":
        raise RuntimeError(f"expected scalar type Long but found {target.dtype}")
    expected = (*shape[:1], *shape[2:])[len(shape) == 1 :]
    if target.shape != expected:
        if len(shape) == 2 and target.ndim > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if len(shape) < 3 or target.shape[:1] != shape[:1]:
            raise ArgumentError(
                f"Expected input batch_size ({shape[0]}) to match target batch_size "
                f"({target.shape[0] if target.ndim else 1})."
            )
        raise RuntimeError(f"Expected target size {list(expected)}, got {list(target.shape)}")
    return shape[0] if len(shape) == 1 else shape[1]


def _all_count(target: Array, classes: int, ignore_index: int) -> bool:
    """Return whether every target is a class, and none of them the ignored one.

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
    below, above = np.maximum(-100, np.log(self)), np.maximum(-100, np.log1p(-self))
    loss = -target * below - (1 - target) * above
    return reduced(loss if weight is None else loss * weight, reduction)


def smooth_l1_loss(self: Array, target: Array, reduction: str, beta: float) -> Any:
    """`d² / (2 beta)` where `|d| < beta`, `|d| - beta / 2` elsewhere."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    distance = np.abs(self - target)
    if beta == 0:
        return reduced(distance, reduction)
    near = np.minimum(beta, distance)
    return reduced(near * (distance - near * 0.5) / beta, reduction)


def huber_loss(self: Array, target: Array, reduction: str, delta: float) -> Any:
    """`d² / 2` where `|d| <= delta`, `delta (|d| - delta / 2)` elsewhere."""
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    distance = np.abs(self - target)
    near = np.minimum(delta, distance)
    return reduced(near * (distance - near * 0.5), reduction)


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
    gap = np.maximum(0, margin - np.take_along_axis(rows, place, 1) + rows)
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


def label_rows(self: Array, target: Array) -> Array:
    """The scores, in at least one dimension; RuntimeError unless `target` has labels for them."""
    if self.dtype.kind != "O":
        floating("multilabel_margin_loss", self)
    if self.ndim > 2 or not all(self.shape[1:] or self.shape):
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(self.shape)}"
        )
    if target.shape != self.shape and target.size != self.size:
        raise RuntimeError(f"inconsistent target size: {list(target.shape)}")
    if target.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype}")
    if ((target < -1) | (target >= (self.shape[-1] if self.ndim else 1))).any():
        raise RuntimeError("target out of range")
    return self.view() if self.ndim else self.reshape(1)


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
    return np.maximum(eps, whole)


def _lengths_of_difference(own: Sequence[int], wanted: Sequence[int]) -> list[int]:
    return [a for a, b in zip(own, wanted, strict=True) if a != b]

"""Rows of a table, by their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes.kinds import is_symbolic
from ..elementwise.checks import Array
from .gather_scatter import add_rows


def embedding(weight: Array, indices: Array, sparse: bool) -> Any:
    """The rows at some numbers, shape (*indices, row)."""
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if sparse:
        raise NotImplementedError("embedding: sparse gradients are not supported, use sparse=False")
    _check(indices, len(weight))
    return weight[indices]


def embedding_dense_backward(
    grad_output: Array, indices: Array, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Array:
    """Rows of zeros with the rows of `grad_output` added, except at `padding_idx`."""
    numbers = indices.reshape(-1)
    out = np.zeros_like(grad_output, order="C", shape=(num_weights, grad_output.shape[-1]))
    add_rows(out, numbers, grad_output.reshape(numbers.size, out.shape[1]))
    if scale_grad_by_freq:
        counts = np.bincount(numbers, minlength=num_weights)
        out = out / _counts(np.maximum(counts, 1), out)[:, None]
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out


def embedding_padded(
    self: Array, indices: Array, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    """The rows at some numbers, zeros at `padding_idx`, each over how often it is asked for."""
    out = self[indices]
    if scale_grad_by_freq:
        counts = np.bincount(indices.reshape(-1), minlength=len(self))
        out = out / _counts(counts, out)[indices][..., None]
    if padding_idx >= 0:
        out[indices == padding_idx] = 0
    return out


def one_hot(self: Array, num_classes: int) -> Array:
    """Integers as rows of zeros with a one."""
    if self.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor")
    if not self.size and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if self.size and self.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(self.max()) + 1
    elif num_classes < 1 or (self.size and self.max() >= num_classes):
        raise RuntimeError("Class values must be smaller than num_classes.")
    return (self[..., None] == np.arange(num_classes)).astype(np.int64)


def _counts(counts: Array, like: Array) -> Array:
    """Counts as numbers that may divide an array without changing its dtype."""
    return counts if is_symbolic(like.dtype) else counts.astype(like.dtype)


def _check(indices: Array, length: int) -> None:
    if indices.dtype not in (np.int32, np.int64):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got {indices.dtype} instead (while checking arguments for embedding)"
        )
    if indices.size and not (indices.min() >= 0 and indices.max() < length):
        raise IndexError("index out of range in self")

"""Undoing broadcasting on tensors, so that it can be differentiated again."""

from __future__ import annotations

from ..core.tensor import Tensor
from ..kernels.reductions.unbroadcast import ShapeDtype, broadcast_dims, must_cast
from .registry import table_op


def reduce_to_differentiable(grad: Tensor, like: ShapeDtype) -> Tensor:
    """`reduce_to` on a tensor, by ops, so that it can be differentiated again."""
    shape, dtype = like
    if grad.array.shape != shape:
        axes = broadcast_dims(grad.array.shape, shape)
        if axes:
            grad = table_op("sum.dim_IntList")(grad, axes, True)
        if grad.array.shape != shape:
            grad = grad.reshape(shape)
    if must_cast(grad.array.dtype, dtype):
        grad = table_op("_to_copy")(grad, dtype=dtype)  # `to` would warn of imaginary parts
    return grad

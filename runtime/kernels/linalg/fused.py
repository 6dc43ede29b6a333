"""A product and a sum in one op, and products of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.number_conversion import converted
from ...core.type_promotion import LAST_INTEGER
from ...core.types import Number
from ..elementwise.checks import Array, floating, normalize_dim, same_dtype
from .products import bmm, dot, mv


def addcdiv(self: Array, tensor1: Array, tensor2: Array, value: Number) -> Any:
    """`self + value * tensor1 / tensor2`; integers are refused, since `/` would make floats."""
    if self.dtype.kind in "iub":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future release addcdiv "
            "will perform a true division of tensor1 and tensor2."
        )
    quotient = tensor1 / tensor2
    return self + (quotient if value == 1 else quotient * value)


def lerp(self: Array, end: Array, weight: Any) -> Any:
    """Counted from the nearer end, so that both ends are met exactly."""
    floating("lerp_kernel_scalar", self)
    if weight < 0.5:
        return self + (end - self) * weight
    return end - (end - self) * (1 - weight)


def lerp_tensor(self: Array, end: Array, weight: Array) -> Any:
    """Counted from the nearer end, so that both ends are met exactly."""
    floating("lerp_kernel_tensor", self)
    way = end - self
    return np.where(weight < 0.5, self + way * weight, end - way * (1 - weight))


def addmv(self: Array, mat: Array, vec: Array, beta: Number, alpha: Number) -> Any:
    """`beta * self + alpha * (mat @ vec)`; `self` does not count at all if `beta` is zero."""
    return _scaled_sum("addmv", self, mv(mat, vec), beta, alpha)


def addr(self: Array, vec1: Array, vec2: Array, beta: Number, alpha: Number) -> Any:
    """`beta * self + alpha * outer(vec1, vec2)`."""
    if vec1.ndim != 1 or vec2.ndim != 1:
        raise RuntimeError("addr: Expected 1-D arguments vec1 and vec2")
    for name, number in ("alpha", alpha), ("beta", beta):
        if isinstance(number, float) and self.dtype.num <= LAST_INTEGER:
            raise RuntimeError(
                f"For integral input tensors, argument {name} must not be a floating point number."
            )
    return _scaled_sum("addr", self, np.multiply.outer(vec1, vec2), beta, alpha)


def baddbmm(self: Array, batch1: Array, batch2: Array, beta: Number, alpha: Number) -> Any:
    """`beta * self + alpha * bmm(batch1, batch2)`."""
    return _scaled_sum("baddbmm", self, bmm(batch1, batch2), beta, alpha)


def addbmm(self: Array, batch1: Array, batch2: Array, beta: Number, alpha: Number) -> Any:
    """`beta * self + alpha` times the sum of the products of two batches of matrices."""
    total = np.add.reduce(bmm(batch1, batch2), axis=0, dtype=self.dtype)
    return _scaled_sum("addbmm", self, total, beta, alpha)


def _scaled_sum(name: str, self: Array, product: Any, beta: Number, alpha: Number) -> Any:
    same_dtype(name, self, product)
    np.broadcast_to(self, product.shape)  # the sum must not be larger than the product
    if alpha != 1:
        product = product * converted(alpha, self.dtype)
    if beta == 1:
        return product + self
    return product if beta == 0 else product + self * converted(beta, self.dtype)


def cross(self: Array, other: Array, dim: int) -> Array:
    """Cross products along one dimension, which has three elements."""
    if self.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    axis = normalize_dim(dim, self.ndim)
    for array in (self, other):
        if not array.ndim or array.shape[axis] != 3:
            raise RuntimeError(
                f"linalg.cross: inputs dimension {dim} must have length 3. Got "
                f"{list(self.shape)} and {list(other.shape)}"
            )
    a, b = np.moveaxis(self, axis, 0), np.moveaxis(other, axis, 0)
    parts = [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]
    return np.stack(parts, axis)


def vdot(self: Array, other: Array) -> Any:
    """The sum of the products of the elements of two vectors, the first conjugated."""
    return dot(self.conj(), other)

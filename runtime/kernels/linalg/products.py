"""Products of vectors and matrices, which do not promote dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...core.number_conversion import converted
from ...core.types import Number
from ...fast.tuning import FLAT_MV_COLUMNS, FLAT_MV_MIN, FLAT_MV_ROWS
from ..elementwise.checks import Array, same_dtype

_matmul = np.matmul
_BOOL: Final = np.dtype(np.bool_)


def mm(self: Array, mat2: Array, strides: Sequence[int] | None = None) -> Array:
    """The product of two matrices, by columns if `strides` are those of such an array.

    The gradient of a transposed weight is transposed as well, so that the weight and its gradient
    lie in memory in the same order.
    """
    if self.ndim != 2 or mat2.ndim != 2:
        wrong = "self" if self.ndim != 2 else "mat2"
        raise RuntimeError(f"{wrong} must be a matrix")
    if self.dtype is not mat2.dtype or self.dtype is _BOOL:
        _multipliable("addmm_impl_cpu_", self, mat2)
    # `dot` begins sooner than `matmul`, by half of what a product of small matrices takes.
    if strides is not None and strides[0] < strides[1]:
        return mat2.T.dot(self.T).T
    return self.dot(mat2)


def bmm(self: Array, mat2: Array) -> Array:
    """The products of two batches of matrices."""
    for name, batch in (("batch1", self), ("batch2", mat2)):
        if batch.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if self.shape[0] != mat2.shape[0] or self.shape[2] != mat2.shape[1]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{self.shape[0]}, {self.shape[2]}] but got: [{mat2.shape[0]}, {mat2.shape[1]}]."
        )
    _multipliable("bmm", self, mat2)
    return _matmul(self, mat2)


def mv(self: Array, vec: Array) -> Array:
    """The product of a matrix and a vector."""
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {vec.ndim}, {self.ndim}, {vec.ndim}"
        )
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({self.shape[0]}), mat ({self.shape[0]}x{self.shape[1]}), "
            f"vec ({vec.shape[0]})"
        )
    _multipliable("addmv_impl_cpu", self, vec)
    if self.size >= FLAT_MV_MIN and len(self) in FLAT_MV_ROWS and _lies_by_columns(self):
        return _flat_mv(self, vec)
    return _matmul(self, vec)


def _multipliable(name: str, self: Array, other: Array) -> None:
    same_dtype(name, self, other)
    if self.dtype is _BOOL:
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")


def _lies_by_columns(self: Array) -> bool:
    return self.dtype.kind in "fc" and self.T.flags.c_contiguous


def _flat_mv(self: Array, vec: Array) -> Array:
    """The product for a matrix of few rows and many columns, which lie in memory one by one.

    It is the gradient of the weights of a linear model. BLAS goes through such a matrix in one
    thread and writes to the result for every column, but not of parts of a thousand columns.
    """
    columns = len(vec) // FLAT_MV_COLUMNS * FLAT_MV_COLUMNS
    parts = vec[:columns].reshape(-1, 1, FLAT_MV_COLUMNS) @ self.T[:columns].reshape(
        -1, FLAT_MV_COLUMNS, len(self)
    )
    product = parts.sum((0, 1))
    product += _matmul(self[:, columns:], vec[columns:])
    return product


def dot(self: Array, tensor: Array) -> Any:
    """The sum of the products of the elements of two vectors."""
    if self.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors")
    if self.shape != tensor.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor {list(self.shape)} and src "
            f"{list(tensor.shape)} to have the same number of elements"
        )
    _multipliable("dot", self, tensor)
    return _matmul(self, tensor)


def addmm(self: Array, mat1: Array, mat2: Array, beta: Number, alpha: Number) -> Any:
    """`beta * self + alpha * (mat1 @ mat2)`; `self` does not count at all if `beta` is zero."""
    product = mm(mat1, mat2)
    if self.dtype is not product.dtype:
        same_dtype("addmm", self, product)
    if alpha != 1:
        product *= converted(alpha, self.dtype)
    # In place: the sum must not be larger than the product.
    if beta != 0:
        product += self if beta == 1 else self * converted(beta, self.dtype)
    return product


def broadcast_matmul(self: Array, other: Array) -> Array:
    """The products of matrices whose batch dimensions broadcast."""
    if self.dtype is _BOOL:
        _multipliable("bmm", self, other)
    return _matmul(self, other)

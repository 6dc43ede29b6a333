"""Products of vectors and matrices, alone or with a sum, which do not promote dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...core.types import Number
from ...dtypes.number_conversion import converted
from ...dtypes.promotion import LAST_INTEGER
from ...fast.tuning import FLAT_MV_COLUMNS, FLAT_MV_MIN, FLAT_MV_ROWS
from ..elementwise.checks import HALF, Array, floating, normalize_dim, same_dtype

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
    # A column by a row, as of gradients by example: `matmul` takes three times as long.
    if self.shape[2] == 1:
        return np.multiply(self, mat2, order="C")
    # One matrix for all, as the weights of a layer are by example: one product.
    if mat2.strides[0] == 0 and len(self) > 1 and self.size and self.flags.c_contiguous:
        rows = self.reshape(-1, self.shape[2]).dot(mat2[0])
        return rows.reshape(*self.shape[:2], mat2.shape[2])
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
    """Multiply a matrix of few rows and many columns that is stored by columns.

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
        product *= _factor(alpha, self.dtype)
    # The sum must not be larger than the product: it is made in place, or looked at.
    if beta != 0:
        product += self if beta == 1 else self * _factor(beta, self.dtype)
    else:
        np.broadcast_to(self, product.shape)
    return product


def broadcast_matmul(self: Array, other: Array) -> Array:
    """The products of matrices whose batch dimensions broadcast."""
    if self.dtype is _BOOL:
        _multipliable("bmm", self, other)
    if self.ndim == other.ndim == 3 and (len(self), self.shape[2]) == other.shape[:2]:
        # One matrix for all, and a column for each: one product.
        if self.strides[0] == 0 and len(self) > 1 and other.shape[2] == 1:
            return other[:, :, 0].dot(self[0].T)[:, :, None]
        return bmm(self, other)
    return _matmul(self, other)


def addcmul(self: Array, tensor1: Array, tensor2: Array, value: Number) -> Any:
    """`self + value * tensor1 * tensor2`, `value` in the dtype; bools are refused."""
    if self.dtype.kind == "b":
        raise NotImplementedError("\"addcmul_cpu_out\" not implemented for 'Bool'")
    product = tensor1 * tensor2
    return self + (product if value == 1 else product * _factor(value, self.dtype))


def addcdiv(self: Array, tensor1: Array, tensor2: Array, value: Number) -> Any:
    """`self + value * tensor1 / tensor2`; integers are refused, since `/` would make floats."""
    if self.dtype.kind in "iub":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future release addcdiv "
            "will perform a true division of tensor1 and tensor2."
        )
    quotient = tensor1 / tensor2
    return self + (quotient if value == 1 else quotient * converted(value, self.dtype))


def lerp(self: Array, end: Array, weight: Any) -> Any:
    """Counted from the nearer end, so that both ends are met exactly."""
    floating("lerp_kernel_scalar", self)
    if self.dtype is HALF:  # in which differences may be infinite
        return lerp(self.astype(np.float32), end.astype(np.float32), weight).astype(HALF)
    weight = converted(weight, self.dtype)
    if np.real(weight) < 0.5:
        return self + (end - self) * weight
    return end - (end - self) * (1 - weight)


def lerp_tensor(self: Array, end: Array, weight: Array) -> Any:
    """Counted from the nearer end, so that both ends are met exactly."""
    floating("lerp_kernel_tensor", self)
    if self.dtype is HALF:
        return lerp_tensor(*(x.astype(np.float32) for x in (self, end, weight))).astype(HALF)
    way = end - self
    return np.where(np.real(weight) < 0.5, self + way * weight, end - way * (1 - weight))


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
        if isinstance(number, bool) and self.dtype.kind != "b":
            raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    return _scaled_sum("addr", self, np.multiply.outer(vec1, vec2), beta, alpha)


def baddbmm(self: Array, batch1: Array, batch2: Array, beta: Number, alpha: Number) -> Any:
    """`beta * self + alpha * bmm(batch1, batch2)`."""
    return _scaled_sum("baddbmm", self, bmm(batch1, batch2), beta, alpha)


def addbmm(self: Array, batch1: Array, batch2: Array, beta: Number, alpha: Number) -> Any:
    """`beta * self + alpha` times the sum of the products of two batches of matrices."""
    total = np.add.reduce(bmm(batch1, batch2), axis=0, dtype=self.dtype)
    return _scaled_sum("addbmm", self, total, beta, alpha)


def _factor(number: Number, dtype: Any) -> Any:
    """Return a factor of elements of a dtype; RuntimeError for a complex one of real elements."""
    if isinstance(number, complex) and dtype.kind in "biuf":
        raise RuntimeError(f"value cannot be converted to type {dtype} without overflow")
    return converted(number, dtype)


def _scaled_sum(name: str, self: Array, product: Any, beta: Number, alpha: Number) -> Any:
    same_dtype(name, self, product)
    np.broadcast_to(self, product.shape)  # the sum must not be larger than the product
    if alpha != 1:
        product = product * _factor(alpha, self.dtype)
    if beta == 1:
        return product + self
    return product if beta == 0 else product + self * _factor(beta, self.dtype)


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

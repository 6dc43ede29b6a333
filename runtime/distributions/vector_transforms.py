"""Transforms of vectors and matrices, and those that change how events are seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.tensor import Size, wrap
from ..dispatch.registry import ops
from . import constraints
from .scalar_transforms import Transform, sum_rightmost


class AbsTransform(Transform):
    """The absolute value; its inverse takes the positive number."""

    codomain: Any = constraints.positive
    bijective = False

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbsTransform)

    __hash__ = Transform.__hash__


class SoftmaxTransform(Transform):
    """Vectors to points of a simplex by `softmax`; the inverse takes logarithms."""

    domain: Any = constraints.real_vector
    codomain: Any = constraints.simplex
    bijective = False

    def _call(self, x: Any) -> Any:
        shifted = (x - x.max(-1, True)[0]).exp()
        return shifted / shifted.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftmaxTransform)

    __hash__ = Transform.__hash__


class StickBreakingTransform(Transform):
    """Vectors to points of a simplex with one more dimension, by breaking pieces off a stick."""

    domain: Any = constraints.real_vector
    codomain: Any = constraints.simplex

    def _offset(self, size: int, dtype: Any) -> Any:
        return wrap(np.arange(size, 0, -1).astype(dtype))

    def _call(self, x: Any) -> Any:
        z = (x - self._offset(x.shape[-1], x.dtype).log()).sigmoid()
        rest = (1 - z).cumprod(-1)
        ones = wrap(np.ones((*x.shape[:-1], 1), x.dtype))
        return ops.cat([z, ones], -1) * ops.cat([ones, rest], -1)

    def _inverse(self, y: Any) -> Any:
        cropped = y[..., :-1]
        tiny = float(np.finfo(y.dtype).tiny)
        rest = (1 - cropped.cumsum(-1)).clamp(min=tiny)
        return cropped.log() - rest.log() + self._offset(cropped.shape[-1], y.dtype).log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Compute `log |dy/dx|` of `y = transform(x)`, with the last element of `y` left out."""
        x = x - self._offset(x.shape[-1], x.dtype).log()
        return (-x - ops.softplus(-x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of the image."""
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of what has an image of a shape."""
        return Size((*shape[:-1], shape[-1] - 1))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StickBreakingTransform)

    __hash__ = Transform.__hash__


class CorrCholeskyTransform(Transform):
    """Vectors of length D * (D - 1) / 2 to Cholesky factors of (D, D) correlation matrices.

    Each row is a point of a half sphere, which `tanh` of the numbers breaks off piece by piece.
    """

    domain: Any = constraints.real_vector
    codomain: Any = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        (*_, size, _) = self.forward_shape(x.shape)
        eps = float(np.finfo(x.dtype).eps)
        places = np.full((size, size), x.shape[-1])
        places[np.tril_indices(size, -1)] = np.arange(x.shape[-1])
        zero = wrap(np.zeros((*x.shape[:-1], 1), x.dtype))
        pieces = ops.cat([x.tanh().clamp(min=-1 + eps, max=1 - eps), zero], -1)
        pieces = pieces[..., wrap(places)]
        rest = (1 - pieces**2).sqrt().cumprod(-1)
        ones = wrap(np.ones((*rest.shape[:-1], 1), x.dtype))
        return (pieces + wrap(np.eye(size, dtype=x.dtype))) * ops.cat([ones, rest[..., :-1]], -1)

    def _below(self, matrix: Any, diagonal: int) -> Any:
        rows, columns = np.tril_indices(matrix.shape[-1], diagonal)
        return matrix[..., wrap(rows), wrap(columns)]

    def _inverse(self, y: Any) -> Any:
        rest = 1 - (y * y).cumsum(-1)
        ones = wrap(np.ones((*rest.shape[:-1], 1), y.dtype))
        before = self._below(ops.cat([ones, rest[..., :-1]], -1), -1)
        pieces = self._below(y, -1) / before.sqrt()
        return (pieces.log1p() - (-pieces).log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Compute `log |dy/dx|` of `y = transform(x)`, of what is below the diagonal."""
        rest = self._below(1 - (y * y).cumsum(-1), -2)
        slopes = -2 * (x + ops.softplus(-2 * x) - math.log(2)).sum(-1)
        return 0.5 * rest.log().sum(-1) + slopes

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of the image; ValueError for no triangular number."""
        if not shape:
            raise ValueError("Too few dimensions on input")
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return Size((*shape[:-1], size, size))

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of what has an image of a shape."""
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CorrCholeskyTransform)

    __hash__ = Transform.__hash__


class LowerCholeskyTransform(Transform):
    """Matrices to lower triangular ones with a positive diagonal, its exponential.

    Elements above the diagonal are not read.
    """

    domain: Any = constraints.independent(constraints.real, 2)
    codomain: Any = constraints.lower_cholesky
    bijective = False

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + ops.diag_embed(x.diagonal(0, -2, -1).exp())

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + ops.diag_embed(y.diagonal(0, -2, -1).log())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = Transform.__hash__


class PositiveDefiniteTransform(Transform):
    """Matrices to positive definite ones: `L @ L.mT` of their `LowerCholeskyTransform`."""

    domain: Any = constraints.independent(constraints.real, 2)
    codomain: Any = constraints.positive_definite
    bijective = False

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(ops.linalg_cholesky(y))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = Transform.__hash__


class IndependentTransform(Transform):
    """Another transform, with some more dimensions taken as one event."""

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.bijective = base_transform.bijective
        more = reinterpreted_batch_ndims
        self.domain = constraints.independent(base_transform.domain, more)
        self.codomain = constraints.independent(base_transform.codomain, more)

    @property
    def sign(self) -> Any:
        """Return that of the other transform."""
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        if x.ndim < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.ndim < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform._inv_call(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Compute `log |dy/dx|` of `y = transform(x)`."""
        found = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(found, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of the image."""
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of what has an image of a shape."""
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """Events of one shape as events of another shape of as many elements."""

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0):
        super().__init__(cache_size)
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ValueError("in_shape, out_shape have different numbers of elements")
        self.domain = constraints.independent(constraints.real, len(self.in_shape))
        self.codomain = constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape((*x.shape[: x.ndim - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Any) -> Any:
        return y.reshape((*y.shape[: y.ndim - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return zeros, one for each event."""
        batch = x.shape[: x.ndim - len(self.in_shape)]
        return wrap(np.zeros(tuple(batch), x.dtype))

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of the image."""
        return _exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of what has an image of a shape."""
        return _exchanged(shape, self.out_shape, self.in_shape)

    def __repr__(self) -> str:
        return f"ReshapeTransform({self.in_shape}, {self.out_shape})"


def _exchanged(shape: Sequence[int], old: tuple[int, ...], new: tuple[int, ...]) -> Size:
    """Return a shape whose last lengths, which are `old`, are `new`; ValueError if they are not."""
    split = len(shape) - len(old)
    if split < 0 or tuple(shape[split:]) != old:
        raise ValueError(
            f"Shape mismatch: expected {tuple(old)} but got {tuple(shape)[max(split, 0) :]}"
        )
    return Size((*shape[:split], *new))

"""Determinants, and their derivatives also where a matrix is singular."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes.kinds import is_symbolic
from ...dtypes.promotion import is_complex
from ..elementwise.checks import Array
from ..elementwise.complex_numbers import sgn
from .decompositions import _check_matrices, _mt, matrices_with_nan


@np.errstate(all="ignore")
def det(A: Array) -> Any:
    """Determinants."""
    _check_matrices("linalg.det", A)
    return _nan_of_nan(np.linalg.det(A), A)


def _nan_of_nan(found: Any, A: Array) -> Any:
    """The same numbers of matrices, and nan of those that hold nan."""
    lost = matrices_with_nan(A)
    return found if lost is None else np.where(lost, np.array(np.nan, found.dtype), found)[()]


@np.errstate(all="ignore")
def cofactors(A: Array) -> Array:
    """The derivative of the determinant: by the inverse, or for nearly singular matrices by SVD."""
    try:
        inverse = np.linalg.inv(A)
        if is_symbolic(A.dtype) or _is_well_conditioned(A, inverse):
            return np.linalg.det(A)[..., None, None] * _mt(inverse)
    except np.linalg.LinAlgError:
        pass
    u, s, vh = _svd_or_nan(A)
    others = np.repeat(s[..., None, :], s.shape[-1], -2)
    others[..., np.arange(s.shape[-1]), np.arange(s.shape[-1])] = 1
    sign = np.linalg.det(u) * np.linalg.det(vh)
    scaled = np.conjugate(u) * (sign[..., None] * others.prod(-1))[..., None, :]
    return np.matmul(scaled, np.conjugate(vh))


def _svd_or_nan(A: Array) -> tuple[Array, Array, Array]:
    """Singular values and vectors; nan for the vectors of matrices of what are no numbers."""
    finite = np.asarray(np.isfinite(A).all((-2, -1)))
    u, s, vh = np.linalg.svd(np.where(finite[..., None, None], A, 0))
    u[~finite] = np.nan
    return u, s, vh


@np.errstate(all="ignore")
def cofactor_slope(self: Array, A: Array) -> Array:
    """The change of the cofactors where `A` changes by `self`; see `cofactors`."""
    if A.shape[-1] == 1:
        return np.zeros_like(self)
    try:
        inverse = np.linalg.inv(A)
        if is_symbolic(A.dtype) or _is_well_conditioned(A, inverse):
            turned = np.matmul(inverse, self)
            trace = np.trace(turned, axis1=-2, axis2=-1)[..., None, None]
            change = trace * inverse - np.matmul(turned, inverse)
            return np.linalg.det(A)[..., None, None] * _mt(change)
    except np.linalg.LinAlgError:
        pass
    # Of a diagonal matrix they are products of all singular values but two.
    u, s, vh = _svd_or_nan(A)
    count = s.shape[-1]
    places = np.arange(count)
    others = np.broadcast_to(s[..., None, None, :], (*s.shape, count, count)).copy()
    others[..., places, :, places] = 1
    others[..., :, places, places] = 1
    products = others.prod(-1)
    products[..., places, places] = 0
    turned = np.matmul(np.matmul(np.conjugate(_mt(u)), self), np.conjugate(_mt(vh)))
    diagonal = turned[..., places, places]
    change = -products * _mt(turned)
    change[..., places, places] = np.matmul(products, diagonal[..., None])[..., 0]
    sign = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    return sign * np.matmul(np.matmul(np.conjugate(u), change), np.conjugate(vh))


def _is_well_conditioned(A: Array, inverse: Array) -> bool:
    condition = np.abs(A).max(initial=0.0) * np.abs(inverse).max(initial=0.0)
    return bool(condition < np.finfo(A.dtype).eps ** -0.5)


@np.errstate(all="ignore")
def slogdet(A: Array) -> tuple[Any, Any]:
    """Signs of determinants, and the logarithms of their absolute values."""
    _check_matrices("linalg.slogdet", A)
    if is_symbolic(A.dtype) and is_complex(A):
        determinant = np.linalg.det(A)
        return sgn(determinant), np.log(np.abs(determinant))
    sign, size = np.linalg.slogdet(A)
    return sign, _nan_of_nan(size, A)

"""Cholesky factors of covariance matrices, which are given in one of three ways."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import wrap
from ..dispatch.registry import ops


def given_matrix(covariance: Any, precision: Any, scale_tril: Any) -> tuple[str, Any]:
    """Return the name and the value of the one that is given; ValueError for more, and vectors."""
    given = {
        "covariance_matrix": covariance,
        "precision_matrix": precision,
        "scale_tril": scale_tril,
    }
    named = [(name, matrix) for name, matrix in given.items() if matrix is not None]
    if len(named) != 1:
        raise ValueError(
            "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
        )
    name, matrix = named[0]
    if matrix.ndim < 2:
        raise ValueError(f"{name} must be at least two-dimensional, with optional batch dims")
    return name, matrix


def factor_of(name: str, matrix: Any) -> Any:
    """Return the lower Cholesky factor of the covariance."""
    if name == "scale_tril":
        return matrix
    if name == "covariance_matrix":
        return ops.linalg_cholesky(matrix)
    # The factor of the inverse, from that of the matrix with its rows and columns reversed.
    reversed_factor = ops.linalg_cholesky(matrix.flip((-2, -1)))
    upper = reversed_factor.flip((-2, -1)).mT
    identity = wrap(np.eye(matrix.shape[-1], dtype=matrix.dtype))
    return ops.linalg_solve_triangular(upper, identity, upper=False)


def from_factor(kind: str, factor: Any, name: str) -> Any:
    """Compute a matrix by its name; AttributeError of `kind` for any other name."""
    if name == "scale_tril":
        return factor
    if name == "covariance_matrix":
        return factor @ factor.mT
    if name == "precision_matrix":
        return ops.linalg_inv(factor @ factor.mT)
    raise AttributeError(f"{kind!r} object has no attribute {name!r}")

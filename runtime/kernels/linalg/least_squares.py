"""Solutions of linear equations that there are too many or too few of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes.kinds import REAL_KINDS, is_symbolic
from ..elementwise.checks import Array, same_dtype
from .decompositions import LinAlgError, pinv

_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@np.errstate(all="ignore")
def lstsq(
    A: Array, B: Array, rcond: float | None, driver: str | None
) -> tuple[Array, Array, Array, Array]:
    """The shortest solution, its squared errors, the ranks and the singular values.

    As in PyTorch `gels` asks for matrices of full rank, whatever `rcond`, and gives no ranks, only
    `gelsd` and `gelss` give singular values, and the default `gelsy` gives no errors. Where there
    are no more equations than unknowns, or ranks are smaller, no driver does.
    """
    _check(A, B, driver)
    is_vector = B.ndim == 1 or (A.ndim == B.ndim + 1 and B.shape == A.shape[:-1])
    right = B[..., None] if is_vector else B
    rows, columns = A.shape[-2:]
    batch = np.broadcast_shapes(A.shape[:-2], right.shape[:-2])
    solution, ranks = _solved(A, right, batch, None if driver == "gels" else rcond)
    none = np.zeros_like(A, order="C", shape=(0,))
    is_full = bool((ranks == min(rows, columns)).all())
    if driver == "gels" and not is_full:
        raise LinAlgError(
            "torch.linalg.lstsq: The least squares solution could not be computed because the "
            "input matrix does not have full rank."
        )
    residuals = none
    if driver not in (None, "gelsy") and rows > columns and is_full:
        residuals = np.square(np.abs(A @ solution - right)).sum(-2)
    return (
        solution[..., 0] if is_vector else solution,
        residuals,
        np.zeros(0, np.int64) if driver == "gels" else ranks,
        np.linalg.svd(A, False)[1] if driver in ("gelsd", "gelss") and A.shape[-1] else none,
    )


def _check(A: Array, B: Array, driver: str | None) -> None:
    if A.ndim < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if B.ndim < 1:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    if A.ndim - B.ndim not in (0, 1):
        raise RuntimeError(
            "torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and "
            "(input.dim() - other.dim()) <= 1"
        )
    if driver not in (None, *_DRIVERS):
        raise RuntimeError(
            f"torch.linalg.lstsq: parameter `driver` should be one of ({', '.join(_DRIVERS)})"
        )
    same_dtype("torch.linalg.lstsq", A, B)
    if A.dtype.kind not in {*REAL_KINDS, "c"} or A.dtype == np.float16:
        raise RuntimeError(
            "torch.linalg.lstsq: Expected a floating point or complex tensor as input. Got "
            f"{A.dtype}"
        )
    is_vector = B.ndim == 1 or (A.ndim == B.ndim + 1 and B.shape == A.shape[:-1])
    if B.shape[-1 if is_vector else -2] != A.shape[-2]:
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-2)")


def _solved(
    A: Array, right: Array, batch: tuple[int, ...], rcond: float | None
) -> tuple[Array, Array]:
    """Solutions, and the rank of each matrix of `A`; symbols have full rank."""
    if is_symbolic(A.dtype):
        ranks = np.full(A.shape[:-2], min(A.shape[-2:]), np.int64)
        return pinv(A, rcond, False, None, None) @ right, ranks
    solution = np.zeros_like(A, order="C", shape=(*batch, A.shape[-1], right.shape[-1]))
    if not A.size:
        return solution, np.zeros(A.shape[:-2], np.int64)
    ranks = np.zeros(batch, np.int64)
    matrices: Any = np.broadcast_to(A, (*batch, *A.shape[-2:]))
    sides: Any = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    for place in np.ndindex(batch):
        found = np.linalg.lstsq(matrices[place], sides[place], rcond)
        solution[place], ranks[place] = found[0], found[2]
    once = tuple(slice(0, 1) if length == 1 else slice(None) for length in A.shape[:-2])
    return solution, ranks[once]

"""LU in compact form, and the solutions of linear equations that are computed from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype_kinds import is_symbolic
from ..elementwise.checks import Array, same_dtype
from .decompositions import lu, solve_triangular


def lu_factor_ex(A: Array, pivot: bool, check_errors: bool) -> tuple[Array, Array, Array]:
    """Both triangles in one matrix, the rows that were exchanged, counted from one, and `info`.

    `info` counts the first zero on the diagonal, from one; it is zero where there is none.
    """
    order, lower, upper = lu(A, pivot)
    count = lower.shape[-1]
    both = np.zeros_like(A)
    both[..., :count] = np.tril(lower, -1)
    both[..., :count, :] += np.triu(upper)
    info = _first_zero(np.diagonal(upper, 0, -2, -1))
    if check_errors and info.any():
        first = int(info[info != 0].flat[0])
        raise RuntimeError(
            f"torch.linalg.lu_factor_ex: U[{first},{first}] is zero and using it on lu_solve would "
            "result in a division by zero. To factorize all the same, call it with "
            "check_errors=False."
        )
    return both, _exchanges(order, count), info


def _first_zero(diagonal: Array) -> Array:
    """The first zero of each row, counted from one; zero where there is none."""
    batch = diagonal.shape[:-1]
    if is_symbolic(diagonal.dtype) or not diagonal.size:
        return np.zeros(batch, np.int32)
    zero = diagonal == 0
    return np.where(zero.any(-1), zero.argmax(-1) + 1, 0).astype(np.int32)


def _exchanges(order: Array, count: int) -> Array:
    """With what each row in turn is exchanged so that a permutation of them comes out."""
    size = order.shape[-1]
    out = np.empty((*order.shape[:-2], count), np.int32)
    for place in np.ndindex(order.shape[:-2]):
        wanted = (order[place] != 0).argmax(0).tolist() if size else []
        rows = list(range(size))
        for row in range(count):
            other = rows.index(wanted[row])
            rows[row], rows[other] = rows[other], rows[row]
            out[(*place, row)] = other + 1
    return out


def row_order(self: Array, pivots: Array) -> Array:
    """The permutation of the rows of `self` that their exchanges are, as a matrix."""
    size = self.shape[-2]
    out = np.zeros_like(self, order="C", shape=(*pivots.shape[:-1], size, size))
    for place in np.ndindex(pivots.shape[:-1]):
        rows = list(range(size))
        for row, other in enumerate(pivots[place].tolist()):
            rows[row], rows[other - 1] = rows[other - 1], rows[row]
        out[(*place, rows, range(size))] = 1
    return out


def unit_lower(self: Array) -> Array:
    """The part below the diagonal, with ones on it."""
    lower = np.tril(self, -1)
    places = np.arange(min(self.shape[-2:]))
    lower[..., places, places] = 1
    return lower


def lu_solve(LU: Array, pivots: Array, B: Array, left: bool, adjoint: bool) -> Array:
    """The solution of `A X = B` or `X A = B`, given the factors of `A` or of its transpose."""
    _check_factors(LU, pivots, B, left)
    if not left:
        return lu_solve(LU, pivots, B.swapaxes(-1, -2), True, not adjoint).swapaxes(-1, -2)
    order = row_order(LU, pivots)
    if adjoint:
        turned = LU.swapaxes(-1, -2)
        inner = solve_triangular(turned, B, False, True, False)
        return order @ solve_triangular(turned, inner, True, True, True)
    inner = solve_triangular(LU, order.swapaxes(-1, -2) @ B, False, True, True)
    return solve_triangular(LU, inner, True, True, False)


def _check_factors(LU: Array, pivots: Array, B: Array, left: bool) -> None:
    if B.ndim < 2:
        raise RuntimeError("linalg.lu_solve: The input tensor B must have at least 2 dimensions.")
    if LU.ndim < 2 or LU.shape[-1] != LU.shape[-2]:
        raise RuntimeError(
            "torch.linalg.lu_solve: A must be batches of square matrices, but they are of shape "
            f"{list(LU.shape)}"
        )
    if pivots.dtype.kind != "i":
        raise RuntimeError("linalg.lu_solve: pivots should be integers")
    if pivots.shape != LU.shape[:-1]:
        raise RuntimeError(
            "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the "
            "matrix"
        )
    same_dtype("linalg.lu_solve", LU, B)
    size: Any = LU.shape[-1]
    if B.shape[-2 if left else -1] != size:
        raise RuntimeError(
            f"linalg.lu_solve: Incompatible shapes of A and B for the equation "
            f"{'AX' if left else 'XA'} = B ({size}x{size} and {B.shape[-2]}x{B.shape[-1]})"
        )
    if pivots.size and not 1 <= pivots.min() <= pivots.max() <= size:
        raise RuntimeError(
            "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). Did you "
            "properly pass the result of lu_factor?"
        )

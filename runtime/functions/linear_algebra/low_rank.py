"""Singular values of matrices of low rank, by random projections: Halko et al. (2009)."""

from __future__ import annotations

from ...core.random_generator import generator
from ...core.tensor import Tensor, wrap
from ...dispatch.registry import ops


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Return `U` (..., m, q), `S` (..., q) and `V` (..., n, q) with `A - M ≈ U diag(S) V^H`.

    Algorithm 5.1 of Halko, Martinsson & Tropp (2009), arXiv:0909.4061, with `niter` iterations of
    a random subspace of `q` dimensions. `M` is broadcast to `A`.
    """
    matrix = A if M is None else A - M.broadcast_to(A.shape)
    is_wide = A.shape[-2] < A.shape[-1]
    matrix = matrix.mH if is_wide else matrix
    basis = _basis(matrix, 6 if q is None else q, 2 if niter is None else niter)
    left, values, right = ops.linalg_svd(basis.mH @ matrix, False)
    u, v = basis @ left, right.mH
    return (v, values, u) if is_wide else (u, values, v)


def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the `q` principal components of the rows of `A`, as `svd_lowrank` does.

    With `center` the mean of the rows is taken off first. ValueError for a `q` that is larger than
    the matrix, or a negative `niter`.
    """
    rows, columns = A.shape[-2:]
    if q is None:
        q = min(6, rows, columns)
    elif not 0 <= q <= min(rows, columns):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)="
            f"{min(rows, columns)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)


def _basis(matrix: Tensor, size: int, niter: int) -> Tensor:
    """Orthonormal columns near the range of a matrix: algorithm 4.4 of Halko et al. (2009)."""
    start = generator().standard_normal((matrix.shape[-1], size))
    basis = ops.linalg_qr(matrix @ wrap(start.astype(matrix.array.dtype)))[0]
    for _ in range(niter):
        basis = ops.linalg_qr(matrix.mH @ basis)[0]
        basis = ops.linalg_qr(matrix @ basis)[0]
    return basis

"""Linear algebra under the names that PyTorch had before its namespace `linalg`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ...core.tensor import Tensor, wrap
from ...dispatch.named_results import Result
from ...dispatch.registry import ops
from ...dtypes.whole_numbers import dim_numbers
from ...inplace.keywords import accepts_out
from .linalg import matrix_norm
from .reflectors import geqrf, orgqr, ormqr


class QrResult(Result):
    """Orthonormal columns, and an upper triangle."""

    Q: Tensor
    R: Tensor


class TriangularSolveResult(Result):
    """The solution, and a copy of the matrix."""

    solution: Tensor
    cloned_coefficient: Tensor


class LuUnpackResult(Result):
    """A permutation of rows, and two triangles."""

    P: Tensor
    L: Tensor
    U: Tensor


@accepts_out
def qr(input: Tensor, some: bool = True) -> QrResult:
    """Return `linalg.qr` of matrices, with a square `Q` unless `some`."""
    return QrResult(*ops.linalg_qr(input, "reduced" if some else "complete"))


@accepts_out
def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> TriangularSolveResult:
    """Return the solution of `A X = input`, or `A^T X = input`, of a triangular matrix `A`.

    RuntimeError for sizes that do not fit.
    """
    if input.ndim < 2 or A.ndim < 2:
        raise RuntimeError(
            "torch.triangular_solve: Expected b and A to have at least 2 dimensions, but they "
            f"have {input.ndim} and {A.ndim} dimensions instead"
        )
    matrix = A.mT if transpose else A
    found = ops.linalg_solve_triangular(
        matrix, input, upper=upper is not transpose, unitriangular=unitriangular
    )
    copy = A.broadcast_to((*found.shape[:-2], *A.shape[-2:])).clone()
    return TriangularSolveResult(found, copy)


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """Return `linalg.lu_factor` of matrices as a tuple, with `get_infos` also what failed.

    RuntimeError for a singular matrix unless `get_infos`.
    """
    if out is not None:
        raise NotImplementedError("lu: `out` is not supported: use what is returned")
    found = ops.linalg_lu_factor_ex(A, pivot=pivot, check_errors=not get_infos)
    return tuple(found) if get_infos else (found[0], found[1])


@accepts_out
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> LuUnpackResult:
    """Return `P`, `L` and `U` of what `linalg.lu_factor` returned; those not asked for are empty.

    RuntimeError for pivots that are no int32.
    """
    if unpack_pivots and LU_pivots.array.dtype != np.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
            "dtype. Note: this function is intended to be used with the output produced by "
            "torch.linalg.lu_factor"
        )
    empty = wrap(np.empty(0, LU_data.array.dtype))
    order = ops._row_order(LU_data, LU_pivots) if unpack_pivots else empty
    if not unpack_data:
        return LuUnpackResult(order, empty, empty)
    return LuUnpackResult(order, ops._lower_factor(LU_data), ops._upper_factor(LU_data))


@accepts_out
def nuclear_norm(
    input: Tensor, dim: Sequence[int] | bool | None = None, keepdim: bool = False
) -> Tensor:
    """Return the sum of the singular values of a matrix, or of those along two dimensions."""
    if isinstance(dim, bool):  # the overload without `dim`
        return matrix_norm(input, "nuc", (-2, -1), dim)
    return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim)


@accepts_out
def frobenius_norm(input: Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Tensor:
    """Return the root of the sum of squares over at most two dimensions."""
    dims = dim_numbers(dim)
    if len(dims) > 2:
        raise RuntimeError(
            f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead."
        )
    return ops.linalg_vector_norm(input, 2, dims or None, keepdim)


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """Return the norms of the slices of one dimension, which the result keeps; -1: of the whole."""
    if dim == -1:
        return ops.linalg_vector_norm(v, pow)
    others = [axis for axis in range(v.ndim) if axis != range(v.ndim)[dim]]
    return ops.linalg_vector_norm(v, pow, others, True) if others else abs(v)


def _removed(name: str, instead: str) -> Callable[..., NoReturn]:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(
            f"This function was deprecated since version 1.9 and is now removed: {instead} takes "
            f"the place of {name}."
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"RuntimeError: PyTorch has removed this function; see `{instead}`."
    return function


matrix_rank = _removed("matrix_rank", "linalg.matrix_rank")
solve = _removed("solve", "linalg.solve")
lstsq = _removed("lstsq", "linalg.lstsq")
eig = _removed("eig", "linalg.eig")
symeig = _removed("symeig", "linalg.eigh")


class OldLinalgMethods:
    """Methods of `Tensor` that are these functions."""

    __slots__ = ()

    geqrf = geqrf
    orgqr = orgqr
    ormqr = ormqr
    qr = qr
    triangular_solve = triangular_solve
    lu = lu
    solve = solve
    lstsq = lstsq
    eig = eig
    symeig = symeig

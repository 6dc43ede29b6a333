"""Inverses, determinants and factorizations of matrices: LAPACK by way of `np.linalg`.

Where LAPACK gives up on one matrix of a batch, NumPy raises for all of them; the matrices are then
taken one by one, so that `info` tells which it was.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from ...dtypes.kinds import is_symbolic
from ...fast.tuning import TRIANGLE_BLOCK
from ..elementwise.checks import Array, floating, same_dtype
from ..elementwise.checks import LinAlgError as LinAlgError
from ..elementwise.complex_numbers import has_imaginary_parts
from .complex_symbols import lu_of_symbols, qr_of_symbols, svd_of_symbols


def _check_matrices(name: str, array: Array, *, square: bool = True) -> None:
    if array.ndim < 2:
        raise RuntimeError(
            f"{name}: The input tensor A must have at least 2 dimensions, but it has {array.ndim}."
        )
    if square and array.shape[-1] != array.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {array.shape[-2]} by "
            f"{array.shape[-1]} matrices"
        )
    if array.dtype.kind in "iub":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {array.dtype}"
        )
    if array.dtype == np.float16:
        raise NotImplementedError(f"\"{name}\" not implemented for 'Half'")


def _mt(array: Array) -> Array:
    return array.swapaxes(-1, -2)


def _each_with_info(
    function: Callable[..., Any],
    arrays: tuple[Array, ...],
    like: Array,
    failing: Callable[[Array], int],
) -> tuple[Array, Array]:
    """Answers shaped as `like`, and `info`: zero, or what `failing` says of the first array.

    Where there is no answer, nan stands.
    """
    batch = like.shape[:-2]
    info = np.zeros(batch, np.int32)
    try:
        return function(*arrays), info
    except np.linalg.LinAlgError:
        pass
    result = np.full_like(like, np.nan)
    spread = [np.broadcast_to(array, batch + array.shape[-2:]) for array in arrays]
    for place in np.ndindex(batch):
        try:
            result[place] = function(*(array[place] for array in spread))
        except np.linalg.LinAlgError:
            info[place] = failing(spread[0][place])
    return result, info


def _zero_pivot(matrix: Array) -> int:
    """Return which pivot of an elimination is zero, counted from one; there is one."""
    rest = matrix.copy()
    for step in range(len(rest) - 1):
        row = step + int(np.abs(rest[step:, step]).argmax())
        if rest[row, step] == 0:
            return step + 1
        rest[[step, row]] = rest[[row, step]]
        factors = rest[step + 1 :, step] / rest[step, step]
        rest[step + 1 :, step:] -= factors[:, None] * rest[step, step:]
    return len(rest)


def matrices_with_nan(A: Array) -> Array | None:
    """Return which of a stack of matrices hold nan; None if no one does.

    LAPACK takes a pivot that is nan for one that is zero: a determinant is zero, and an inverse of
    numbers, or none. PyTorch's are nan.
    """
    if is_symbolic(A.dtype) or not np.isnan(A).any():
        return None
    return np.asarray(np.isnan(A).any((-2, -1)))


def _factor(matrix: Array) -> Array:
    """The Cholesky factor; LinAlgError for one of nan as well, which has no definite minor."""
    lower = np.linalg.cholesky(matrix)
    if not is_symbolic(lower.dtype) and np.isnan(lower[..., -1:, -1:]).any():
        raise np.linalg.LinAlgError
    return lower


def _indefinite_minor(matrix: Array) -> int:
    """Return the order of the first leading minor without a Cholesky factor; there is one."""
    definite, indefinite = 0, len(matrix)
    while indefinite - definite > 1:
        order = (definite + indefinite) // 2
        try:
            _factor(matrix[:order, :order])
            definite = order
        except np.linalg.LinAlgError:
            indefinite = order
    return indefinite


def _refuse(name: str, info: Array, why: str) -> None:
    """Raise LinAlgError if a matrix failed; `{}` in `why` is its `info`."""
    if info.any():
        first = int((info.reshape(-1) != 0).argmax())
        where = f"(Batch element {first}): " if info.ndim else ""
        raise LinAlgError(f"{name}: {where}{why.format(info.flat[first])}")


def inv_ex(A: Array, check_errors: bool) -> tuple[Array, Array]:
    """Inverses; `info` is the first zero on the diagonal of the eliminated matrix, from one."""
    _check_matrices("linalg.inv", A)
    inverse, info = _each_with_info(np.linalg.inv, (A,), A, _zero_pivot)
    if (lost := matrices_with_nan(A)) is not None:
        inverse[lost], info[lost] = np.nan, 0
    if check_errors:
        _refuse(
            "linalg.inv",
            info,
            "The diagonal element {} is zero, the inversion could not be completed because the "
            "input matrix is singular.",
        )
    return inverse, info


def solve_ex(A: Array, B: Array, left: bool, check_errors: bool) -> tuple[Array, Array]:
    """The solution of `A X = B` or `X A = B`, and `info` as of `inv_ex`."""
    _check_matrices("linalg.solve", A)
    same_dtype("linalg.solve", A, B)
    is_vector = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])
    if is_vector and not left:
        raise RuntimeError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for "
            "left=False."
        )
    right = B[..., None] if is_vector else B
    matrix = A if left else _mt(A)
    right = right if left else _mt(right)
    if right.ndim < 2 or right.shape[-2] != A.shape[-1]:
        raise RuntimeError(
            "linalg.solve: Incompatible shapes of A and B for the equation "
            f"{'AX' if left else 'XA'} = B ({list(A.shape)} and {list(B.shape)})"
        )
    batch = np.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    like = np.broadcast_to(right, batch + right.shape[-2:], subok=True)
    found, info = _each_with_info(np.linalg.solve, (matrix, right), like, _zero_pivot)
    if (lost := matrices_with_nan(matrix)) is not None:
        lost = np.broadcast_to(lost, batch)
        found[lost], info[lost] = np.nan, 0
    info = _of_matrices(info, A.shape[:-2])
    if check_errors:
        _refuse("linalg.solve", info, "The solver failed because the input matrix is singular.")
    if is_vector:
        return found[..., 0], info
    return (found if left else _mt(found)), info


def _of_matrices(info: Array, batch: tuple[int, ...]) -> Array:
    """`info` of the matrices alone, not of every right-hand side they were used for."""
    new = info.ndim - len(batch)
    repeated = [dim + new for dim, length in enumerate(batch) if length == 1]
    found: Array = np.max(info, (*range(new), *repeated), keepdims=True, initial=0)
    return found.reshape(batch).astype(np.int32)


def solve_triangular(self: Array, B: Array, upper: bool, left: bool, unitriangular: bool) -> Array:
    """The solution of `A X = B` or `X A = B`, of a triangular matrix of which one half is read."""
    _check_matrices("linalg.solve_triangular", self)
    _check_matrices("linalg.solve_triangular", B, square=False)
    same_dtype("linalg.solve_triangular", self, B)
    if self.shape[-1] != B.shape[-2 if left else -1]:
        raise RuntimeError(
            f"linalg.solve_triangular: Incompatible shapes of A and B for the equation "
            f"{'AX' if left else 'XA'} = B ({list(self.shape)} and {list(B.shape)})"
        )
    half = np.triu(self) if upper else np.tril(self)
    if unitriangular:
        places = np.arange(self.shape[-1])
        half[..., places, places] = 1
    if left:
        return _solve_half(half, B, upper)
    return _mt(_solve_half(_mt(half), _mt(B), not upper))


def _solve_half(half: Array, B: Array, upper: bool) -> Array:
    """The solution for a triangle; infinite where the diagonal has a zero, as in PyTorch.

    Of a large one first the part that does without the rest: NumPy knows no triangles, and would
    do three times the work.
    """
    size = half.shape[-1]
    if size > TRIANGLE_BLOCK:
        top, bottom = slice(size // 2), slice(size // 2, None)
        first, rest = (bottom, top) if upper else (top, bottom)
        known = _solve_half(half[..., first, first], B[..., first, :], upper)
        right = B[..., rest, :] - half[..., rest, first] @ known
        unknown = _solve_half(half[..., rest, rest], right, upper)
        return np.concatenate((unknown, known) if upper else (known, unknown), axis=-2)
    try:
        return np.linalg.solve(half, B)
    except np.linalg.LinAlgError:
        return _substitute(half, B, upper)


def _substitute(half: Array, B: Array, upper: bool) -> Array:
    """The solution for a triangle, row by row from the one with a single unknown."""
    size = half.shape[-1]
    batch = np.broadcast_shapes(half.shape[:-2], B.shape[:-2])
    rest = np.broadcast_to(B, (*batch, *B.shape[-2:])).copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        for row in reversed(range(size)) if upper else range(size):
            rest[..., row, :] /= half[..., row, row, None]
            others = slice(row) if upper else slice(row + 1, None)
            rest[..., others, :] -= half[..., others, row, None] * rest[..., row, None, :]
    return rest


def cholesky_ex(self: Array, upper: bool, check_errors: bool) -> tuple[Array, Array]:
    """The triangular factor; `info` is the order of the first minor that is not definite."""
    _check_matrices("linalg.cholesky", self)
    matrix = _mt(self) if upper else self
    lower, info = _each_with_info(_factor, (matrix,), self, _indefinite_minor)
    if check_errors:
        _refuse(
            "linalg.cholesky",
            info,
            "The factorization could not be completed because the input is not positive-definite "
            "(the leading minor of order {} is not positive-definite).",
        )
    return (_mt(lower) if upper else lower), info


def cholesky(self: Array, upper: bool) -> Array:
    """The triangular factor; LinAlgError where the matrix is not positive definite."""
    floating("cholesky_cpu", self)
    return cholesky_ex(self, upper, True)[0]


def cholesky_inverse(self: Array, upper: bool) -> Array:
    """The inverse of a positive definite matrix, given its triangular factor."""
    _check_factor("cholesky_inverse", self)
    identity = np.zeros_like(self)
    places = np.arange(self.shape[-1])
    identity[..., places, places] = 1
    return cholesky_solve(identity, self, upper)


def cholesky_solve(self: Array, input2: Array, upper: bool) -> Array:
    """The solution of the equations of a positive definite matrix, given its triangular factor."""
    _check_factor("cholesky_solve", input2)
    if self.ndim < 2:
        raise RuntimeError(
            f"b should have at least 2 dimensions, but has {self.ndim} dimensions instead"
        )
    same_dtype("cholesky_solve", self, input2)
    if self.shape[-2] != input2.shape[-1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {input2.shape[-1]} "
            f"by {input2.shape[-1]} but each b matrix is {self.shape[-2]} by {self.shape[-1]}"
        )
    half = np.triu(input2) if upper else np.tril(input2)
    turned = np.conjugate(_mt(half))
    lower, above = (turned, half) if upper else (half, turned)
    return _solve_half(above, _solve_half(lower, self, False), True)


def _check_factor(name: str, factor: Array) -> None:
    if factor.ndim < 2:
        raise RuntimeError(
            f"{name}: The input tensor must have at least 2 dimensions, but it has {factor.ndim}."
        )
    if factor.shape[-1] != factor.shape[-2]:
        raise RuntimeError(
            f"{name}: expected square matrices or batches of them, but got shape "
            f"{list(factor.shape)}"
        )
    floating(name, factor)


def eigh(self: Array, UPLO: str) -> tuple[Array, Array]:
    """Eigenvalues in ascending order, and eigenvectors."""
    _check_matrices("linalg.eigh", self)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    values, vectors = np.linalg.eigh(self, "L" if UPLO.upper() == "L" else "U")
    return values, vectors


def quotient(self: Array, other: Array) -> Any:
    """The quotient, where zero divided by zero is zero; symbols are not zero."""
    if is_symbolic(self.dtype):
        return self / np.where(_is_number_zero(self) & _is_number_zero(other), 1, other)
    return self / np.where((self == 0) & (other == 0), np.ones_like(other), other)


def ones_for_zeros(self: Array) -> Any:
    """The numbers, with ones for zeros; symbols are not zero."""
    zero = _is_number_zero(self) if is_symbolic(self.dtype) else self == 0
    return np.where(zero, np.ones_like(self), self)


def _is_number_zero(symbols: Array) -> Array:
    found = np.zeros(symbols.shape, bool)
    for place in np.ndindex(symbols.shape):
        with suppress(RuntimeError):  # a symbol is no number
            found[place] = float(symbols[place]) == 0
    return found


def svd(A: Array, full_matrices: bool) -> tuple[Array, Array, Array]:
    """Singular values in descending order, between the two factors."""
    _check_matrices("linalg.svd", A, square=False)
    if is_symbolic(A.dtype) and has_imaginary_parts(A):
        return svd_of_symbols(A)
    u, s, vh = np.linalg.svd(A, full_matrices)
    return u, s, vh


def qr(A: Array, mode: str) -> tuple[Array, Array]:
    """Orthonormal columns and an upper triangle; the former are left out if `mode` is `r`."""
    _check_matrices("linalg.qr", A, square=False)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', "
            "or 'complete'"
        )
    if is_symbolic(A.dtype) and has_imaginary_parts(A):
        return qr_of_symbols(A)
    if mode == "r":
        nothing: Array = np.zeros_like(A, order="C", shape=(0,))
        upper: Any = np.linalg.qr(A, "r")
        return nothing, upper
    q, r = np.linalg.qr(A, "complete" if mode == "complete" else "reduced")
    return q, r


def lu(A: Array, pivot: bool) -> tuple[Array, Array, Array]:
    """The order of the rows and the two triangles, by SciPy; RuntimeError without it.

    PyTorch's CPU code, too, always exchanges rows.
    """
    _check_matrices("linalg.lu", A, square=False)
    if not pivot:
        raise RuntimeError("linalg.lu: LU without pivoting is not implemented on the CPU")
    if is_symbolic(A.dtype):  # the symbols of a proof know what they were made of
        if has_imaginary_parts(A):
            return lu_of_symbols(A)
        symbols: Any = A
        order, lower, upper = symbols.lu()
        return order, lower, upper
    if not A.size:
        return _lu_of_nothing(A)
    try:
        from scipy.linalg import lu as factorized  # large: only who needs it waits for it
    except ImportError:
        raise RuntimeError("linalg.lu needs SciPy: pip install scipy") from None
    order, lower, upper = factorized(A, check_finite=False)
    return order.astype(A.dtype, copy=False), lower, upper


def _lu_of_nothing(A: Array) -> tuple[Array, Array, Array]:
    """Rows that stay where they are, and triangles without elements."""
    rows, columns = A.shape[-2:]
    count = min(rows, columns)
    order = np.zeros_like(A, order="C", shape=(*A.shape[:-2], rows, rows))
    order[..., range(rows), range(rows)] = 1
    return (
        order,
        order[..., :count],
        np.zeros_like(A, order="C", shape=(*A.shape[:-2], count, columns)),
    )


def differentiable_q(self: Array, columns: int) -> Array:
    """The factor itself, unless it was left out or has columns that `A` does not determine."""
    if self.ndim < 2:
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
            "Please use linalg.qr(A, mode='reduced') if you are going to require gradients."
        )
    if self.shape[-1] > columns:
        raise RuntimeError(
            "linalg.qr is not differentiable when mode='complete' and A has more rows than "
            "columns: further columns of Q may be any that are orthonormal. Use mode='reduced'."
        )
    return self


def pinv(
    self: Array, rcond: float | None, hermitian: bool, atol: float | None, rtol: float | None
) -> Array:
    """Pseudoinverses; singular values up to `max(atol, rtol * largest)` count as zero."""
    _check_matrices("linalg.pinv", self, square=hermitian)
    relative: Any = rtol if rcond is None else rcond
    if relative is None:
        default = max(self.shape[-2:], default=0) * _epsilon(self)
        relative = default if not atol else 0.0
    if atol and self.size and not is_symbolic(self.dtype):
        largest = np.linalg.svd(self, compute_uv=False)[..., :1]
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.maximum(relative, np.where(largest > 0, atol / largest, 1))[..., 0]
    return (
        _pinv_of_symbols(self)
        if is_symbolic(self.dtype)
        else np.linalg.pinv(self, relative, hermitian)
    )


def _pinv_of_symbols(self: Array) -> Any:
    """Pseudoinverses of matrices of full rank, which symbols are."""
    turned = np.conjugate(_mt(self))
    if self.shape[-2] >= self.shape[-1]:
        return np.matmul(np.linalg.inv(np.matmul(turned, self)), turned)
    return np.matmul(turned, np.linalg.inv(np.matmul(self, turned)))


def _epsilon(array: Array) -> float:
    return float(np.finfo(array.dtype if array.dtype.kind in "fc" else np.float64).eps)


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
        turned = lu_solve(LU, pivots, np.conjugate(_mt(B)), True, not adjoint)
        return np.conjugate(_mt(turned))
    order = row_order(LU, pivots)
    if adjoint:
        turned = np.conjugate(_mt(LU))
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

"""Exact models of `np.linalg`: inverses as quotients, factorizations by the factors they came from.

Every model takes one matrix or a batch of them, as its original does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy
from sympy import Matrix
from sympy.polys.matrices import DomainMatrix

from ..inputs.parametrize import factors_of, numbers, signs
from .complex_numbers import is_complex
from .decisions import ProofError, sign
from .exact_arrays import Sym, expressions, sym_array


def _batched(function: Callable[..., tuple[Matrix, ...]]) -> Callable[..., tuple[Any, ...]]:
    """A function of matrices as one of batches, which broadcast; a column answers a vector."""

    def on_batches(*arrays: Any) -> tuple[Any, ...]:
        exact = [expressions(array) for array in arrays]
        batch = np.broadcast_shapes(*(array.shape[:-2] for array in exact))
        spread = [np.broadcast_to(array, batch + array.shape[-2:]) for array in exact]
        places = list(np.ndindex(*batch))
        answers = [function(*(Matrix(array[place]) for array in spread)) for place in places]
        return tuple(_joined(parts, batch) for parts in zip(*answers, strict=True))

    return on_batches


def _joined(parts: tuple[Any, ...], batch: tuple[int, ...]) -> Any:
    """The matrices, lists or numbers of all places in one array."""
    shape = parts[0].shape if isinstance(parts[0], Matrix) else np.shape(parts[0])
    elements = [e for part in parts for e in (part if len(shape) else [part])]
    if batch + shape == ():
        return Sym(elements[0])
    return sym_array(elements, batch + shape)


def _inv(array: Any) -> Any:
    return _batched(lambda a: (_inverse(a.as_immutable()),))(array)[0]


@functools.lru_cache(maxsize=256)
def _inverse(matrix: Any) -> Matrix:
    """The same matrices come up in the forward, in either mode and in every chamber."""
    return Matrix(matrix.inv(method="ADJ"))


def _det(array: Any) -> Any:
    return _batched(lambda a: (_determinant(a.as_immutable()),))(array)[0]


@functools.lru_cache(maxsize=256)
def _determinant(matrix: Any) -> Any:
    return matrix.det(method="berkowitz")


def _slogdet(array: Any) -> tuple[Any, Any]:
    def one(a: Matrix) -> tuple[Any, ...]:
        det = _determinant(a.as_immutable())
        side = sign(det, branches=False)  # the logarithm is the same on both sides
        return sympy.Integer(side), sympy.log(side * det)

    found = _batched(one)(array)
    return found[0], found[1]


def _solve(left: Any, right: Any) -> Any:
    right = np.asanyarray(right)
    if right.ndim == 1:
        return _solve(left, right[:, None])[..., 0]
    return _batched(lambda a, b: (_inverse(a.as_immutable()) * b,))(left, right)[0]


def _pinv(array: Any, *_: Any, **__: Any) -> Any:
    """Compute pseudoinverses of matrices of full rank."""

    def one(a: Matrix) -> tuple[Matrix, ...]:
        if a.shape[0] >= a.shape[1]:
            return (_inverse((a.T * a).as_immutable()) * a.T,)
        return (a.T * _inverse((a * a.T).as_immutable()),)

    return _batched(one)(array)[0]


def _cholesky(array: Any) -> Any:
    return _batched(lambda a: (_lower_factor(a),))(array)[0]


def _lower_factor(matrix: Matrix) -> Matrix:
    """The Cholesky factor that the matrix is made of; by roots, if it is small and real."""
    try:
        return factors_of("cholesky", matrix).parts[0]
    except ProofError:
        if matrix.rows > 2 or any(map(is_complex, matrix)):
            raise
    first = sympy.sqrt(_positive(matrix[0, 0]))
    if matrix.rows == 1:
        return Matrix([[first]])
    beside = matrix[1, 0] / first
    rest = sympy.together(matrix[1, 1] - matrix[1, 0] ** 2 / matrix[0, 0])
    return Matrix([[first, 0], [beside, sympy.sqrt(_positive(rest))]])


def _positive(pivot: Any) -> Any:
    if sign(pivot, branches=False) <= 0:
        raise ProofError("this matrix is not positive definite at the point")
    return pivot


def _eigh(array: Any, UPLO: str = "L") -> tuple[Any, Any]:
    def one(a: Matrix) -> tuple[Any, ...]:
        values, vectors = factors_of("eigh", a).parts
        chosen = signs(vectors, np.linalg.eigh(numbers(a), "L" if UPLO == "L" else "U")[1])
        return list(values), vectors * sympy.diag(*chosen)

    found = _batched(one)(array)
    return found[0], found[1]


def _svd(array: Any, full_matrices: bool = True) -> tuple[Any, Any, Any]:
    def one(a: Matrix) -> tuple[Any, ...]:
        u, values, vh = factors_of("svd", a).parts
        count = len(values)
        numeric_u, _, numeric_vh = np.linalg.svd(numbers(a))
        left, right = signs(u, numeric_u), signs(vh.T, numeric_vh.T)
        u, vh = u * sympy.diag(*left), sympy.diag(*right) * vh
        if not full_matrices:
            u, vh = u[:, :count], vh[:count, :]
        return u, list(values), vh

    found = _batched(one)(array)
    return found[0], found[1], found[2]


def _qr(array: Any, mode: str = "reduced") -> tuple[Any, Any]:
    def one(a: Matrix) -> tuple[Matrix, Matrix]:
        q, r = factors_of("qr", a).parts
        chosen = sympy.diag(*signs(q, np.linalg.qr(numbers(a), "complete")[0]))
        q, r = q * chosen, chosen * r
        if mode == "reduced":
            count = min(a.shape)
            return q[:, :count], r[:count, :]
        return q, r

    found = _batched(one)(array)
    return found[0], found[1]


def lu(array: Any) -> tuple[Any, Any, Any]:
    """The order of the rows, and the two triangles; rows that are no pivots lie as LAPACK's do."""
    from scipy.linalg import lu as factorized

    def one(a: Matrix) -> tuple[Matrix, ...]:
        order, lower, upper = factors_of("lu", a).parts
        chosen = Matrix(factorized(numbers(a))[0].astype(int))
        return chosen, chosen.T * order * lower, upper

    found = _batched(one)(array)
    return found[0], found[1], found[2]


def matrix_exp(array: Any) -> Any:
    """Exponentiate matrices with one eigenvalue, and so blocks of them: a finite sum."""

    def one(a: Matrix) -> tuple[Matrix, ...]:
        eigenvalue = sympy.cancel(a.trace() / a.shape[0])
        shift = eigenvalue * sympy.eye(a.shape[0])
        nilpotent = DomainMatrix.from_Matrix(a - shift).to_field()  # of polynomials: fast products
        term = total = nilpotent.eye(nilpotent.shape, nilpotent.domain)
        for power in range(1, a.shape[0] + 1):
            term = term * nilpotent * nilpotent.domain.convert(sympy.Rational(1, power))
            total = total + term
        if not term.is_zero_matrix:
            raise ProofError("this matrix has several eigenvalues: give it as `{jordan: ...}`")
        return (sympy.exp(eigenvalue) * total.to_Matrix(),)

    return _batched(one)(array)[0]


MATRIX_MODELS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.linalg.inv: _inv,
    np.linalg.det: _det,
    np.linalg.slogdet: _slogdet,
    np.linalg.solve: _solve,
    np.linalg.pinv: _pinv,
    np.linalg.cholesky: _cholesky,
    np.linalg.eigh: _eigh,
    np.linalg.svd: _svd,
    np.linalg.qr: _qr,
}

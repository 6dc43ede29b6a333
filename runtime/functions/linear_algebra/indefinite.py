"""Factors of symmetric matrices that need not be positive definite: LAPACK's `sytrf`, `hetrf`.

`L D L^T`, or `L D L^H` of Hermitian matrices, with a unit lower triangle `L` whose rows were
exchanged, and blocks of one or two rows in `D`. Only the lower triangle of a matrix is read. SciPy
is imported when the first matrix comes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from ...core.modes import is_grad_enabled
from ...core.tensor import Tensor, wrap
from ...dispatch.named_results import Result
from ...dtypes.promotion import type_name
from ...inplace.keywords import accepts_out

Array: TypeAlias = np.ndarray[Any, Any]

_PREFIXES: Final = {"f": "s", "d": "d", "F": "c", "D": "z"}
"""The letters that LAPACK has for NumPy's dtypes."""


class LdlFactorResult(Result):
    """The factors in one matrix, and the rows that were exchanged."""

    __slots__ = ()
    _shown = "gradspec.return_types.linalg_ldl_factor"
    LD: Tensor
    pivots: Tensor


class LdlFactorExResult(Result):
    """The factors in one matrix, the rows that were exchanged, and LAPACK's verdict."""

    __slots__ = ()
    _shown = "gradspec.return_types.linalg_ldl_factor_ex"
    LD: Tensor
    pivots: Tensor
    info: Tensor


@accepts_out
def ldl_factor(A: Tensor, *, hermitian: bool = False) -> LdlFactorResult:
    """Return the LDL factors of symmetric matrices (..., n, n), and the pivots (..., n).

    `hermitian` decides of complex matrices only. RuntimeError where a block of `D` is zero;
    NotImplementedError for a tensor that requires grad, whose derivative PyTorch lacks as well.
    """
    LD, pivots, info = _factors("linalg.ldl_factor", A, hermitian)
    _check(info, "linalg.ldl_factor")
    return LdlFactorResult(LD, pivots)


@accepts_out
def ldl_factor_ex(
    A: Tensor, *, hermitian: bool = False, check_errors: bool = False
) -> LdlFactorExResult:
    """`ldl_factor` with the first zero block of `D`, from 1, as `info` (...); 0 for none.

    It raises for such a block only if it is to `check_errors`.
    """
    LD, pivots, info = _factors("linalg.ldl_factor_ex", A, hermitian)
    if check_errors:
        _check(info, "linalg.ldl_factor_ex")
    return LdlFactorExResult(LD, pivots, info)


@accepts_out
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """Solve `A X = B` (..., n, k) for the matrices whose factors `ldl_factor` found.

    RuntimeError for sizes and dtypes that do not fit; NotImplementedError for tensors that
    require grad, as in `ldl_factor`.
    """
    name = "linalg.ldl_solve"
    _check_matrices(name, LD)
    _check_system(name, LD, pivots, B)
    _refuse_gradient(name, LD, B)
    batch = np.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    size, columns = B.shape[-2:]
    count = math.prod(batch)
    factors = np.broadcast_to(LD.array, (*batch, size, size)).reshape(count, size, size)
    rows = np.broadcast_to(pivots.array, (*batch, size)).reshape(count, size)
    sides = np.broadcast_to(B.array, (*batch, size, columns)).reshape(count, size, columns)
    found = np.empty((count, columns, size), B.array.dtype)  # by columns, as LAPACK answers
    for place, side in enumerate(sides):
        found[place] = _solved(factors[place], rows[place], side, hermitian).T
    return wrap(found.reshape(*batch, columns, size).swapaxes(-1, -2))


def _solved(factors: Array, pivots: Array, side: Array, hermitian: bool) -> Array:
    """Solve one system, by `L`, then by `D`, then by the transpose of `L`.

    A pivot tells which row was exchanged with this one, counted from one; two equal negative ones
    belong to a block of two rows, the second of which was exchanged. Old releases of SciPy have no
    `sytrs`.
    """
    found = side.copy()
    blocks: list[tuple[int, int, int]] = []
    first = 0
    while first < len(pivots):
        last = first if pivots[first] > 0 else first + 1
        blocks.append((first, last, abs(int(pivots[first])) - 1))
        first = last + 1
    for first, last, exchanged in blocks:
        found[[last, exchanged]] = found[[exchanged, last]]
        block = factors[first : last + 1, first : last + 1]
        below = factors[last + 1 :, first : last + 1]
        found[last + 1 :] -= below @ found[first : last + 1]
        found[first : last + 1] = _by_block(block, found[first : last + 1], hermitian)
    for first, last, exchanged in reversed(blocks):
        below = factors[last + 1 :, first : last + 1]
        across = below.T.conj() if hermitian else below.T
        found[first : last + 1] -= across @ found[last + 1 :]
        found[[last, exchanged]] = found[[exchanged, last]]
    return found


def _by_block(block: Array, side: Array, hermitian: bool) -> Array:
    """Divide by one block of `D`, of which the lower triangle is given."""
    diagonal = np.diag(block).real if hermitian else np.diag(block)
    if len(block) == 1:
        with np.errstate(all="ignore"):  # as LAPACK: infinite where the block is zero
            quotient: Array = side / diagonal
            return quotient
    lower = np.tril(block, -1)
    upper = lower.T.conj() if hermitian else lower.T
    return np.linalg.solve(lower + upper + np.diag(diagonal), side)


def _factors(name: str, A: Tensor, hermitian: bool) -> tuple[Tensor, Tensor, Tensor]:
    _check_matrices(name, A)
    _refuse_gradient(name, A)
    *batch, size, _ = A.shape
    count = math.prod(batch)
    factors = np.zeros((count, size, size), A.array.dtype)
    pivots = np.zeros((count, size), np.int32)
    info = np.zeros(count, np.int32)
    factorize = _lapack(A.array.dtype, hermitian)
    for place, matrix in enumerate(A.array.reshape(count, size, size) if size else ()):
        factor, pivots[place], info[place] = factorize(matrix, lower=1)
        factors[place] = np.tril(factor).T  # by columns, as LAPACK leaves them
    return (
        wrap(factors.reshape(*batch, size, size).swapaxes(-1, -2)),
        wrap(pivots.reshape(*batch, size)),
        wrap(info.reshape(batch)),
    )


def _lapack(dtype: np.dtype[Any], hermitian: bool) -> Callable[..., Any]:
    """The function of LAPACK for a dtype: of symmetric matrices, or of complex Hermitian ones."""
    from scipy.linalg import lapack  # large: only who needs it waits for it

    kind = "he" if hermitian and dtype.kind == "c" else "sy"
    function: Callable[..., Any] = getattr(lapack, f"{_PREFIXES[dtype.char]}{kind}trf")
    return function


def _check_matrices(name: str, A: Tensor) -> None:
    if A.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {A.shape[-2]} by "
            f"{A.shape[-1]} matrices"
        )
    dtype = A.array.dtype
    if dtype.kind not in "fc":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {type_name(dtype)}"
        )
    if dtype.char not in _PREFIXES:
        raise NotImplementedError(f"\"{name}\" not implemented for '{type_name(dtype)}'")


def _check_system(name: str, LD: Tensor, pivots: Tensor, B: Tensor) -> None:
    if B.ndim < 2:
        raise IndexError(f"{name}: B must have at least 2 dimensions, not {B.ndim}")
    if pivots.shape != LD.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots.shape)} instead"
        )
    if pivots.array.dtype.kind not in "iu":
        raise RuntimeError(
            f"{name}: Expected pivots to be integers. Got {type_name(pivots.array.dtype)}"
        )
    if B.array.dtype != LD.array.dtype:
        raise RuntimeError(
            f"{name}: Expected B and LD to have the same dtype, but found "
            f"{type_name(B.array.dtype)} and {type_name(LD.array.dtype)}"
        )
    if B.shape[-2] != LD.shape[-1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each matrix of LD is {LD.shape[-1]} by "
            f"{LD.shape[-1]} but each matrix of B is {B.shape[-2]} by {B.shape[-1]}"
        )


def _refuse_gradient(name: str, *tensors: Tensor) -> None:
    if is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        raise NotImplementedError(
            f"the derivative for {name} is not implemented: use linalg.solve, or detach() the input"
        )


def _check(info: Tensor, name: str) -> None:
    singular = np.flatnonzero(info.array)
    if singular.size:
        place = info.array.flat[singular[0]]
        raise RuntimeError(
            f"{name}: block {place} of D is exactly zero, so that the matrix is singular: use "
            "ldl_factor_ex, which does not raise"
        )

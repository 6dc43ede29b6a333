"""Products of NumPy, and its namespace `linalg`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from .. import linalg
from ..core.tensor import Tensor
from ..dispatch.registry import ops
from ..functions import composites, splitting
from ..functions.linear_algebra import einsum as contraction
from .arguments import Axes, as_tensor, axes_of, floats, promoted, values_of
from .shapes import matrix_transpose


class QRResult(NamedTuple):
    """The factors of `qr`, by NumPy's names."""

    Q: Tensor
    R: Tensor


class EigResult(NamedTuple):
    """Eigenvalues and vectors of `eig`, by NumPy's names."""

    eigenvalues: Tensor
    eigenvectors: Tensor


def _dot(a: Any, b: Any) -> Any:
    a, b = promoted(a, b)
    if not a.ndim or not b.ndim:
        return ops.mul(a, b)
    if b.ndim == 1 or (a.ndim <= 2 and b.ndim <= 2):
        return ops.matmul(a, b)
    return contraction.tensordot(a, b, ([-1], [-2]))


def _inner(a: Any, b: Any) -> Any:
    a, b = promoted(a, b)
    if not a.ndim or not b.ndim:
        return ops.mul(a, b)
    return contraction.tensordot(a, b, ([-1], [-1]))


def _outer(a: Any, b: Any) -> Any:
    return ops.outer(composites.ravel(as_tensor(a)), composites.ravel(as_tensor(b)))


def _vdot(a: Any, b: Any) -> Any:
    a, b = promoted(a, b)
    return ops.vdot(composites.ravel(a), composites.ravel(b))


def _kron(a: Any, b: Any) -> Any:
    return composites.kron(as_tensor(a), as_tensor(b))


def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    if not isinstance(axes, int):
        axes = tuple([each] if isinstance(each, int) else list(each) for each in axes)
    a, b = promoted(a, b)
    return contraction.tensordot(a, b, axes)


def _einsum(*operands: Any, optimize: Any = False) -> Any:
    """Take the subscripts as text before the arrays, or as a list after each."""
    if isinstance(operands[0], str):
        return contraction.einsum(operands[0], *promoted(*operands[1:]))
    count = len(operands) // 2
    given = list(operands)
    given[: 2 * count : 2] = promoted(*operands[: 2 * count : 2])
    return contraction.einsum(*given)


def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return ops.sum(ops.diagonal(as_tensor(a), offset, axis1, axis2), -1)


def _cross(
    a: Any,
    b: Any,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = promoted(a, b)
    first = composites.movedim(a, axisa, -1)
    second = composites.movedim(b, axisb, -1)
    first, second = splitting.broadcast_tensors(first, second)
    return composites.movedim(ops.linalg_cross(first, second, dim=-1), -1, axisc)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "cross": _cross,
    "dot": _dot,
    "einsum": _einsum,
    "inner": _inner,
    "kron": _kron,
    "outer": _outer,
    "tensordot": _tensordot,
    "trace": _trace,
    "vdot": _vdot,
}
"""The overrides by their names in `numpy`."""


def _norm(x: Any, ord: Any = None, axis: Axes = None, keepdims: bool = False) -> Any:
    x = floats(x)
    dims = axis if axis is None or isinstance(axis, int) else list(axis)
    return linalg.norm(x, ord, dims, keepdims)


def _vector_norm(x: Any, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Any:
    x = floats(x)
    return ops.linalg_vector_norm(x, ord, list(axes_of(axis, x.ndim)), keepdims)


def _matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return linalg.matrix_norm(floats(x), ord, (-2, -1), keepdims)


def _solve(a: Any, b: Any) -> Any:
    a, b = promoted(floats(a), floats(b))
    if b.ndim > 1 and b.ndim < a.ndim:  # matrices for NumPy; vectors of a batch for PyTorch
        b = ops.reshape(b, [*[1] * (a.ndim - b.ndim), *b.shape])
    return ops.linalg_solve(a, b)


def _svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    if hermitian:
        raise TypeError("svd of a tensor does not know hermitian=True: use np.linalg.eigh")
    a = floats(a)
    return ops.linalg_svd(a, full_matrices) if compute_uv else ops.linalg_svdvals(a)


def _qr(a: Any, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        raise TypeError(f"qr of a tensor takes mode='reduced', 'complete' or 'r', not {mode!r}")
    if mode == "r":  # whose gradient needs the other factor
        return ops.linalg_qr(floats(a), "reduced")[1]
    return QRResult(*ops.linalg_qr(floats(a), mode))


def _cholesky(a: Any, /, *, upper: bool = False) -> Any:
    return ops.linalg_cholesky(floats(a), upper=upper)


def _eigvalsh(a: Any, UPLO: str = "L") -> Any:
    return ops.linalg_eigvalsh(floats(a), UPLO)


_REAL_IF_ALL_ARE = np.linalg.eigvals(np.eye(1)).dtype.kind == "f"
"""True if eigenvalues of real matrices are real where none is complex: before NumPy 2.5."""


def _eig(a: Any) -> EigResult:
    found = EigResult(*ops.linalg_eig(floats(a)))
    return _real_if_all_are(a, found) if _REAL_IF_ALL_ARE else found


def _eigvals(a: Any) -> Any:
    return _eig(a).eigenvalues


def eigenvalues(a: Any) -> Any:
    """The eigenvalues of matrices; real ones where none of a real matrix is complex."""
    return _real_if_all_are(a, EigResult(*ops.linalg_eig(floats(a)))).eigenvalues


def _real_if_all_are(a: Any, found: EigResult) -> EigResult:
    if as_tensor(a).is_complex() or values_of(found.eigenvalues).imag.any():
        return found
    return EigResult(ops.real(found.eigenvalues), ops.real(found.eigenvectors))


def _eigh(a: Any, UPLO: str = "L") -> Any:
    return ops.linalg_eigh(floats(a), UPLO)


def _pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    relative = rcond if rtol is None else rtol
    return ops.linalg_pinv(floats(a), 1e-15 if relative is None else relative, hermitian)


def _lstsq(a: Any, b: Any, rcond: float | None = None) -> Any:
    a, b = promoted(floats(a), floats(b))
    found = ops.linalg_lstsq(a, b, rcond, driver="gelsd")
    solution, residuals, rank, singular_values = found
    return solution, residuals, int(rank), singular_values


def _matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    A = floats(A)
    if A.ndim < 2:
        return int(bool((values_of(A) != 0).any()))
    if rtol is not None:
        return linalg.matrix_rank(A, rtol=rtol, hermitian=hermitian)
    return linalg.matrix_rank(A, tol, hermitian)


def _cond(x: Any, p: Any = None) -> Any:
    return linalg.cond(floats(x), p)


def _linalg_trace(x: Any, /, *, offset: int = 0) -> Any:
    return _trace(x, offset, -2, -1)


def _linalg_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    return ops.diagonal(as_tensor(x), offset, -2, -1)


def _linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return _cross(x1, x2, axis=axis)


def _vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return ops.linalg_vecdot(*promoted(x1, x2), dim=axis)


def _tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> Any:
    a, b = promoted(floats(a), floats(b))
    return linalg.tensorsolve(a, b, axes)


LINALG: Final[dict[str, Callable[..., Any]]] = {
    "cholesky": _cholesky,
    "cond": _cond,
    "cross": _linalg_cross,
    "det": lambda a: ops.linalg_det(floats(a)),
    "diagonal": _linalg_diagonal,
    "eig": _eig,
    "eigh": _eigh,
    "eigvals": _eigvals,
    "eigvalsh": _eigvalsh,
    "inv": lambda a: ops.linalg_inv(floats(a)),
    "lstsq": _lstsq,
    "matmul": lambda x1, x2, /: ops.matmul(*promoted(x1, x2)),
    "matrix_norm": _matrix_norm,
    "matrix_power": lambda a, n: linalg.matrix_power(as_tensor(a), n),
    "matrix_rank": _matrix_rank,
    "matrix_transpose": matrix_transpose,
    "multi_dot": lambda arrays: linalg.multi_dot(promoted(*arrays)),
    "norm": _norm,
    "outer": lambda x1, x2, /: ops.outer(as_tensor(x1), as_tensor(x2)),
    "pinv": _pinv,
    "qr": _qr,
    "slogdet": lambda a: ops.linalg_slogdet(floats(a)),
    "solve": _solve,
    "svd": _svd,
    "svdvals": lambda x, /: ops.linalg_svdvals(floats(x)),
    "tensordot": lambda x1, x2, /, *, axes=2: _tensordot(x1, x2, axes),
    "tensorinv": lambda a, ind=2: linalg.tensorinv(floats(a), ind),
    "tensorsolve": _tensorsolve,
    "trace": _linalg_trace,
    "vecdot": _vecdot,
    "vector_norm": _vector_norm,
}
"""The overrides by their names in `numpy.linalg`."""

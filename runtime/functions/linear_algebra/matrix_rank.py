"""Condition numbers, ranks and pseudoinverses of matrices."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...batching.examples import reading_each_example
from ...core.tensor import Tensor, wrap
from ...dispatch.registry import ops
from ...dtypes.promotion import type_name
from ...inplace.keywords import accepts_out
from .linalg import matrix_norm


@accepts_out
def cond(A: Tensor, p: float | str | None = None) -> Tensor:
    """The norm of matrices times that of their inverses; infinite where there is no inverse.

    The norm is one of `matrix_norm`, by default the largest singular value. Only that and the
    smallest (2 and -2) take matrices that are not square. RuntimeError for any other norm.
    """
    if A.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p not in (None, "fro", "nuc", 1, -1, 2, -2, inf, -inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if not A.array.size:
        return abs(A).sum((-2, -1))
    if p in (None, 2, -2):
        values = ops.linalg_svdvals(A)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            f"linalg.cond(ord={p}): A must be batches of square matrices, but they are "
            f"{A.shape[-2]} by {A.shape[-1]} matrices"
        )
    if p == "nuc":
        values = ops.linalg_svdvals(A)
        return values.sum(-1) * (1 / values).sum(-1)
    inverse, info = ops.linalg_inv_ex(A)
    inverse = inverse.masked_fill((info != 0)[..., None, None], inf)
    # Zero times infinity, of a norm that is zero, is infinite.
    return ops.nan_to_num(matrix_norm(A, p) * matrix_norm(inverse, p), inf, inf, -inf)


@accepts_out
@reading_each_example
def matrix_rank(
    A: Tensor,
    tol: float | Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
) -> Tensor:
    """Count the singular values above `max(atol, rtol * largest)`.

    `rtol` is by default as many roundings as the matrix has rows or columns, and zero beside an
    `atol` above zero; `tol` is an old name of the latter.
    """
    if A.ndim < 2:
        raise RuntimeError(
            "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions."
        )
    for name, bound in (("tol", tol), ("atol", atol), ("rtol", rtol)):
        _check_bound("matrix_rank", name, bound)
    A = A.detach()
    if not A.array.size:
        return wrap(np.zeros(A.array.shape[:-2], np.int64))
    values = abs(ops.linalg_eigvalsh(A)) if hermitian else ops.linalg_svdvals(A)
    absolute, relative = _numbers(atol if tol is None else tol), _numbers(rtol)
    if tol is not None:
        relative = 0.0
    elif relative is None:
        default = max(A.shape[-2:]) * float(np.finfo(values.array.dtype).eps)
        relative = default if absolute is None else np.where(absolute > 0, 0.0, default)
    largest = values.array.max(-1, initial=0)
    least: Any = np.maximum(0.0 if absolute is None else absolute, relative * largest)
    return wrap(np.asanyarray((values.array > least[..., None]).sum(-1)))


def _numbers(given: Any) -> Any:
    return given.numpy() if isinstance(given, Tensor) else given


def _check_bound(function: str, name: str, bound: Any) -> None:
    """Raise RuntimeError for a bound that is a tensor of complex numbers."""
    if isinstance(bound, Tensor) and bound.array.dtype.kind == "c":
        raise RuntimeError(
            f"torch.linalg.{function}: {name} tensor of complex type is not supported. Got "
            f"{type_name(bound.dtype)}"
        )


@accepts_out
def pinv(
    A: Tensor,
    rcond: float | Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
) -> Tensor:
    """Pseudoinverses; singular values up to `max(atol, rtol * largest)` count as zero.

    `rtol` is by default as many roundings as the matrix has rows or columns, and zero beside an
    `atol`; `rcond` is an old name of it. Each may be a tensor with a bound for every matrix.
    RuntimeError for one of complex numbers.
    """
    bounds: dict[str, Any] = {"rcond": rcond, "atol": atol, "rtol": rtol}
    tensors = {name: bound for name, bound in bounds.items() if isinstance(bound, Tensor)}
    if not tensors:
        return ops.linalg_pinv(A, hermitian=hermitian, **bounds)
    for name, bound in tensors.items():
        _check_bound("pinv", name, bound)
    batch = np.broadcast_shapes(A.shape[:-2], *(bound.shape for bound in tensors.values()))
    spread = {name: np.broadcast_to(bound.numpy(), batch) for name, bound in tensors.items()}
    matrices = A.expand(*batch, *A.shape[-2:])
    inverses = [
        ops.linalg_pinv(
            matrices[place],
            hermitian=hermitian,
            **bounds | {name: float(values[place]) for name, values in spread.items()},
        )
        for place in np.ndindex(batch)
    ]
    shape = (*batch, A.shape[-1], A.shape[-2])
    return ops.reshape(ops.stack(inverses), shape) if inverses else A.new_empty(shape)

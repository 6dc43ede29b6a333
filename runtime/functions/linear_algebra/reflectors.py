"""Products of Householder reflectors, the form in which LAPACK keeps the `Q` of `QR`.

Column `i` of `input` holds, below the diagonal, the vector of the reflector
`1 - tau[i] v v^H`, whose first elements are zeros and a one.
"""

from __future__ import annotations

import numpy as np

from ...batching.examples import reading_each_example
from ...core.modes import is_grad_enabled
from ...core.tensor import Tensor, wrap
from ...dispatch.named_results import Result
from ...dispatch.registry import ops
from ...inplace.keywords import accepts_out


class GeqrfResult(Result):
    """The reflectors with the upper triangle, and their factors."""

    a: Tensor
    tau: Tensor


@accepts_out
@reading_each_example
def geqrf(input: Tensor) -> GeqrfResult:
    """Return the QR decomposition of matrices (..., m, n) as LAPACK's reflectors.

    `a` (..., m, n) has `R` in its upper triangle and the vectors below; `tau` (..., min(m, n)).
    NotImplementedError for a tensor that requires grad, as in PyTorch's backward pass: use
    `linalg.qr`.
    """
    _check_matrix("geqrf", input)
    if is_grad_enabled() and input.requires_grad:
        raise NotImplementedError(
            "the derivative for geqrf is not implemented: use linalg.qr, or detach() the input"
        )
    array = input.array
    turned, tau = np.linalg.qr(array, "raw")
    return GeqrfResult(wrap(turned.swapaxes(-1, -2)), wrap(tau))


@accepts_out
def householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """Return the first `n` columns of the product of reflectors `input` (..., m, n).

    RuntimeError unless `m >= n`, and `tau` is (..., k) with `k <= n`.
    """
    _check_reflectors("linalg.householder_product", input, tau)
    rows, columns = input.shape[-2:]
    if rows < columns:
        raise RuntimeError(
            "linalg.householder_product: input.shape[-2] must be greater than or equal to "
            "input.shape[-1]"
        )
    eye = np.broadcast_to(np.eye(rows, columns, dtype=input.array.dtype), input.shape)
    return _reflected(wrap(eye.copy()), input, tau, backwards=True, adjoint=False)


@accepts_out
def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """Return the same as `linalg.householder_product`."""
    return householder_product(input, input2)


@accepts_out
def ormqr(
    input: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """Multiply matrices `input3` by the product `Q` of all reflectors, or by its adjoint.

    `Q input3` if `left`, else `input3 Q`; `Q` is square, as large as the reflectors are long.
    RuntimeError for sizes that do not fit.
    """
    _check_reflectors("torch.ormqr", input, input2)
    size = input3.shape[-2 if left else -1] if input3.ndim >= 2 else 0
    if input3.ndim < 2 or size != input.shape[-2]:
        raise RuntimeError(
            f"torch.ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2], "
            f"but got {list(input3.shape)} and {list(input.shape)}"
        )
    if left:
        return _reflected(input3, input, input2, backwards=not transpose, adjoint=transpose)
    # B Q = (Q^H B^H)^H
    found = _reflected(input3.mH, input, input2, backwards=transpose, adjoint=not transpose)
    return found.mH


def _reflected(
    matrix: Tensor, input: Tensor, tau: Tensor, *, backwards: bool, adjoint: bool
) -> Tensor:
    """Apply the reflectors, or their adjoints, one after the other: the last one first."""
    count = tau.shape[-1]
    below = ops.tril(input, -1)
    for column in reversed(range(count)) if backwards else range(count):
        one = np.zeros((input.shape[-2], 1), input.array.dtype)
        one[column] = 1
        vector = below[..., column : column + 1] + wrap(one)
        factor = tau[..., column : column + 1].unsqueeze(-1)
        factor = ops.conj(factor) if adjoint else factor
        matrix = matrix - factor * (vector @ (vector.mH @ matrix))
    return matrix


def _check_matrix(name: str, input: Tensor) -> None:
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if input.array.dtype.kind not in "fc":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {input.dtype}"
        )


def _check_reflectors(name: str, input: Tensor, tau: Tensor) -> None:
    _check_matrix(name, input)
    columns = min(input.shape[-2:])
    if tau.ndim != input.ndim - 1 or tau.shape[:-1] != input.shape[:-2] or tau.shape[-1] > columns:
        raise RuntimeError(
            f"{name}: Expected tau of shape {list(input.shape[:-2])} and at most {columns} "
            f"elements, but got {list(tau.shape)}"
        )
    if tau.dtype != input.dtype:
        raise RuntimeError(
            f"{name}: tau dtype {tau.dtype} does not match input dtype {input.dtype}"
        )

"""Factorizations of complex symbols of one row or one column, which need no factors to start from.

Proofs run on them: they show where conjugates stand. The order of the factors is shown by matrices
of real symbols, which a proof makes of their factors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementwise.checks import Array


def _need_one_row_or_column(name: str, A: Array) -> None:
    if min(A.shape[-2:]) != 1:
        raise ValueError(
            f"{name}: complex symbols need one row or one column here, not {list(A.shape)}"
        )


def svd_of_symbols(A: Array) -> tuple[Any, Any, Any]:
    """The length, between the direction and one; the factor beside a single row is one."""
    _need_one_row_or_column("linalg.svd", A)
    length = np.sqrt(np.sum(A.real**2 + A.imag**2, (-2, -1), keepdims=True))
    one = length / length
    if A.shape[-1] == 1:
        return A / length, length[..., 0], one
    return one, length[..., 0], A / length


def qr_of_symbols(A: Array) -> tuple[Any, Any]:
    """Orthonormal columns and an upper triangle of real diagonal, with LAPACK's sign of it."""
    _need_one_row_or_column("linalg.qr", A)
    first = A[..., :1]
    length = np.sqrt(np.sum(first.real**2 + first.imag**2, -2, keepdims=True))
    corner = np.where(first[..., :1, :].real > 0, -length, length)
    q = first / corner
    others = np.matmul(np.conjugate(q).swapaxes(-1, -2), A[..., 1:])
    return q, np.concatenate([corner, others], -1)


def lu_of_symbols(A: Array) -> tuple[Any, Any, Any]:
    """The order of the rows and the two triangles; the largest element goes first.

    As in LAPACK, the largest is that of the largest sum of both parts' absolute values.
    """
    _need_one_row_or_column("linalg.lu", A)
    rows, size = A.shape[-2], np.abs(A.real) + np.abs(A.imag)
    order = np.zeros_like(A, order="C", shape=(*A.shape[:-2], rows, rows))
    for place in np.ndindex(A.shape[:-2]):
        largest = 0
        for row in range(1, rows):
            if size[(*place, row, 0)] > size[(*place, largest, 0)]:
                largest = row
        places = list(range(rows))
        places[0], places[largest] = places[largest], places[0]
        order[(*place, places, range(rows))] = 1
    moved = np.matmul(order.swapaxes(-1, -2), A)
    if rows == 1:
        return order, order, moved
    return order, moved / moved[..., :1, :], moved[..., :1, :]

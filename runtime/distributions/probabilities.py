"""Probabilities and logits, properties that are computed once, triangles of matrices."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numpy as np

from ..core.modes import enable_grad
from ..core.tensor import wrap
from ..dispatch.registry import ops
from .discrete import clamped


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Compute probabilities: of each number, or of the last dimension together."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Compute logarithms of probabilities, or of the odds of each."""
    inside = clamped(probs)
    return inside.log() - (-inside).log1p() if is_binary else inside.log()


class lazy_property:
    """Property that is computed when it is first read, and then is an attribute."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return property(self.wrapped)
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """Make lower triangular matrices of vectors, row by row up to the diagonal `diag`.

    ValueError for a length that no triangle has.
    """
    count = vec.shape[-1]
    size = (
        -(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1)) ** 0.5
    ) / 2
    if round(size) - size > float(np.finfo(vec.dtype).eps):
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower "
            "triangular part of a square D x D matrix."
        )
    size = round(size)
    rows, columns = np.tril_indices(size, diag)
    places = np.full((size, size), count)
    places[rows, columns] = np.arange(len(rows))
    zero = wrap(np.zeros((*vec.shape[:-1], 1), vec.dtype))
    return ops.cat([vec, zero], -1)[..., wrap(places)]


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """Make vectors of the elements of square matrices up to the diagonal `diag`, row by row.

    ValueError for a diagonal that the matrices do not have.
    """
    size = mat.shape[-1]
    if not -size <= diag < size:
        raise ValueError(f"diag ({diag}) provided is outside [{-size}, {size - 1}].")
    rows, columns = np.tril_indices(size, diag)
    return mat[..., wrap(rows), wrap(columns)]

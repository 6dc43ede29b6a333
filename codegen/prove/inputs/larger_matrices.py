"""Factorizations of matrices that are too large for symbols, compared with differences.

Matrices of two rows are special: the eigenvectors that LAPACK finds for them are symmetric, so
nobody can tell them from their transpose.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ...spec.model import Example, OpSpec
from ...spec.vocabulary import FACTORIZATIONS
from ..identities.identity import Mismatch
from ..identities.run import Array, differentiable_leaves
from ..zero.number_fields import numeric_values
from .draw import build
from .unseen_calls import judge

SYMMETRIC = frozenset({"cholesky", "eigh"})


def check_larger_matrices(spec: OpSpec, examples: Iterable[Example]) -> int:
    """Check calls, and count them. Raises Mismatch where a derivative is not the slope."""
    if spec.composite is not None:
        return 0  # the ops that it calls are checked
    checked = 0
    for example, kind, name in _given_by_factors(examples):
        inputs = build(spec, example)
        leaves = differentiable_leaves(spec, inputs)
        if leaves != [(name, 0)]:
            continue
        values = numeric_values(inputs, inputs.draw(random.Random(spec.name)))
        values[name] = _matrix(kind, values[name].shape)
        if judge(spec, values, leaves, is_symmetric=kind in SYMMETRIC) is False:
            message = f"is no derivative for {name} = {values[name].tolist()}"
            raise Mismatch(f"VJP or JVP by {name}", name, message)
        checked += 1
    return checked


def _given_by_factors(examples: Iterable[Example]) -> Iterator[tuple[Example, str, str]]:
    for example in examples:
        for name, value in example.args:
            if isinstance(value, Mapping):
                ((kind, _),) = value.items()
                if kind in FACTORIZATIONS:
                    yield example, kind, name


def _matrix(kind: str, shape: tuple[int, ...]) -> Array:
    """One with a row and a column more."""
    rng = np.random.default_rng(0)
    rows, columns = shape[-2] + 1, shape[-1] + 1
    matrix = rng.uniform(-2, 2, (*shape[:-2], rows, columns))
    transposed = np.swapaxes(matrix, -1, -2)
    if kind == "eigh":
        return np.asarray(matrix + transposed)
    return np.asarray(matrix @ transposed + np.eye(rows)) if kind == "cholesky" else matrix

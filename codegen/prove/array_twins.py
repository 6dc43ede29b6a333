"""Exact twins of NumPy functions of whole arrays that would not survive on symbols.

Most of NumPy needs none: its functions are written with ufuncs, or move elements about.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from .decisions import ProofError


def _matrix(array: Any) -> sympy.Matrix:
    from .symbols import expressions

    if array.ndim != 2:
        raise ProofError("the exact twins of np.linalg take one matrix, not a batch")
    return sympy.Matrix(expressions(array))


def _array(matrix: sympy.Matrix, shape: tuple[int, ...]) -> Any:
    from .symbols import sym_array

    return sym_array(list(matrix), shape)


def _inv(array: Any) -> Any:
    return _array(_matrix(array).inv(method="ADJ"), array.shape)


def _det(array: Any) -> Any:
    from .symbols import Sym

    return Sym(_matrix(array).det(method="berkowitz"))


def _solve(left: Any, right: Any) -> Any:
    from .symbols import expressions

    right = np.asanyarray(right)
    columns = sympy.Matrix(expressions(right.reshape(len(right), -1)))
    return _array(_matrix(left).inv(method="ADJ") * columns, right.shape)


def _sinc(array: Any) -> Any:
    from .symbols import Sym, lift

    def each(element: Any) -> Sym:
        x = sympy.pi * lift(element)
        return Sym(sympy.S.One if x == 0 else sympy.sin(x) / x)

    return np.frompyfunc(each, 1, 1)(np.asarray(array))


def _i0(array: Any) -> Any:
    from .symbols import Sym, lift

    return np.frompyfunc(lambda x: Sym(sympy.besseli(0, lift(x))), 1, 1)(np.asarray(array))


def _nan_to_num(array: Any, *_: Any, **__: Any) -> Any:
    """Symbols are finite numbers."""
    return array.copy()


ARRAY_TWINS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.linalg.inv: _inv,
    np.linalg.det: _det,
    np.linalg.solve: _solve,
    np.sinc: _sinc,
    np.i0: _i0,
    np.nan_to_num: _nan_to_num,
}

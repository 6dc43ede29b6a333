"""Exact models of NumPy functions of whole arrays that would not survive on symbols.

Most of NumPy needs none: its functions are written with ufuncs, or move elements about.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from .exact_arrays import ARRAY_MODELS, METHOD_MODELS, Sym, lift
from .fourier_models import FOURIER_MODELS
from .matrix_models import MATRIX_MODELS, lu, matrix_exp


def _sinc(array: Any) -> Any:
    def each(element: Any) -> Sym:
        x = sympy.pi * lift(element)
        return Sym(sympy.S.One if x == 0 else sympy.sin(x) / x)

    return np.frompyfunc(each, 1, 1)(np.asarray(array))


def _i0(array: Any) -> Any:
    return np.frompyfunc(lambda x: Sym(sympy.besseli(0, lift(x))), 1, 1)(np.asarray(array))


def _nan_to_num(array: Any, *_: Any, **__: Any) -> Any:
    """Symbols are finite numbers."""
    return array.copy()


def register() -> None:
    """Let arrays of symbols answer these functions, and the methods for factors of matrices."""
    ARRAY_MODELS.update(MATRIX_MODELS)
    ARRAY_MODELS.update(FOURIER_MODELS)
    ARRAY_MODELS.update({np.sinc: _sinc, np.i0: _i0, np.nan_to_num: _nan_to_num})
    METHOD_MODELS.update(lu=lu, matrix_exp=matrix_exp)

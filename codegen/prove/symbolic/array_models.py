"""Exact twins of NumPy functions of whole arrays that would not survive on symbols.

Most of NumPy needs none: its functions are written with ufuncs, or move elements about.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from .fourier_models import FOURIER_TWINS
from .matrix_models import MATRIX_TWINS


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
    **MATRIX_TWINS,
    **FOURIER_TWINS,
    np.sinc: _sinc,
    np.i0: _i0,
    np.nan_to_num: _nan_to_num,
}

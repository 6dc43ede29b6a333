"""SciPy's special functions, imported when the first of them is used.

Most programs need none of them, and SciPy takes longer to import than NumPy. Numbers of half
precision are computed in single precision and rounded, where SciPy would answer with wider ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ..core.captured import is_of_numbers


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        import scipy.special
    except ImportError as error:
        raise ImportError(
            f"{name} is computed by SciPy, which is not installed: pip install 'gradspec[special]'"
        ) from error
    function = _rounding_halves(getattr(scipy.special, name))
    globals()[name] = function  # the next use finds it without coming here
    return function


def _rounding_halves(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        for arg in args:
            if is_of_numbers(arg) and arg.dtype == np.float16:
                return _rounded(function, args, **options)
        return function(*args, **options)

    return call


def _rounded(function: Callable[..., Any], args: tuple[Any, ...], out: Any = None) -> Any:
    wide = [
        arg.astype(np.float32) if getattr(arg, "dtype", None) == np.float16 else arg for arg in args
    ]
    found = function(*wide)
    if isinstance(found, tuple):
        return tuple(part.astype(np.float16) for part in found)
    if out is None:
        return found.astype(np.float16)
    out[...] = found
    return out

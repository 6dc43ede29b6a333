"""SciPy's special functions, imported when the first of them is used.

Most programs need none of them, and SciPy takes longer to import than NumPy.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        import scipy.special
    except ImportError as error:
        raise ImportError(
            f"{name} is computed by SciPy, which is not installed: pip install 'gradspec[special]'"
        ) from error
    function = getattr(scipy.special, name)
    globals()[name] = function  # the next use finds it without coming here
    return function

"""Reference counts of arrays: a gradient that is not shared need not be copied.

PyTorch asks its own reference counts the same question.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any, Final

from numpy import empty, ndarray


def is_unshared(array: Any) -> bool:
    """Return whether the caller holds the only reference to this array.

    A view counts if it shows all of an array that only the view knows, as a transposed product
    does. The array must be in one local variable of the caller, and nowhere else.
    """
    if type(array) is not ndarray or getrefcount(array) != _UNSHARED_REFERENCES:
        return False
    if array.base is None:
        return True
    if type(array.base) is not ndarray or getrefcount(array.base) != _UNSHARED_BASE_REFERENCES:
        return False
    return array.base.size == array.size and array.flags.writeable


# Measured, because versions of Python count the references of running functions differently.


def _references_in_callee(array: Any) -> int:
    return getrefcount(array)


def _references(array: Any) -> int:
    return _references_in_callee(array)


def _references_to_base(array: Any) -> int:
    return getrefcount(array.base)


_UNSHARED_REFERENCES: Final = _references(empty(1))
_UNSHARED_BASE_REFERENCES: Final = _references_to_base(empty(1)[:])

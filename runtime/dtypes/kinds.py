"""Kinds of dtypes, as NumPy's letters, that decide what may be done with an array.

The proof runs the library on arrays of Python objects, which are its symbols: they have any value,
real or complex, and have derivatives.
"""

from __future__ import annotations

from typing import Any, Final

COMPLEX_KINDS: Final = "cO"
"""The kinds that can hold a complex number."""

REAL_KINDS: Final = "fO"
"""The kinds of real numbers that have derivatives."""

DIFFERENTIABLE_KINDS: Final = "fcO"
"""The kinds that have derivatives."""


def is_symbolic(dtype: Any) -> bool:
    """Return whether arrays of this dtype hold the symbols of a proof."""
    return bool(dtype.kind == "O")


def any_symbolic(*arrays: Any) -> bool:
    """Return whether one of the arrays or tensors that are there holds the symbols of a proof.

    They stand for elements of every dtype, so that conditions on one have nothing to refuse.
    """
    return any(array is not None and is_symbolic(array.dtype) for array in arrays)

"""Sines and cosines of float64 arrays by the vectorised tangent.

NumPy computes the sine and cosine of float64 one element after the other, in 5 to 9 ns each. Its
tangent is vectorised on processors with AVX-512 and takes 1 ns, so there the sine of x is made
from the tangent t of x / 2, as t * 2 / (1 + t**2), and the cosine by dividing that by the tangent
of x: 2 and 3 ns. Both ways keep the relative precision of the tangent, beside zeros and for large
numbers as well; errors are up to 3 and 4 units in the last place (NumPy's: 1).

The gradient of a sine reads 2 / (1 + t**2) - 1, for which that one tangent is enough. Its error is
below 2**-51, as if x were another by one or two units in its last place: beside the zeros of the
cosine that is more than a few units of the result.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np

from .parallel_for import BLOCK, in_blocks, in_threads

Array: TypeAlias = np.ndarray[Any, Any]

SEVERAL: Final = 3 << 8
"""The number of elements from which `sine` and `cosine` pay."""

_LITTLE: Final = 1 << 17
"""Elements up to which what is computed beside a result is kept for the gradient: one megabyte."""

_TINY: Final = np.array(1e-150)
"""Added to the argument of a cosine: too small to count, and no quotient of zeros is left.

Even the square of its tangent is no subnormal number.
"""

_FLOAT64: Final = np.dtype(np.float64)

# NumPy takes 0.2 us less for an array without dimensions than for a number.
_HALF: Final = np.array(0.5)
_ONE: Final = np.array(1.0)
_TWO: Final = np.array(2.0)


def sine(array: Any) -> Any:
    """`np.sin(array)`."""
    if not _goes_by_tangents(array):
        return in_threads(np.sin, array)
    try:
        # The same as `in_blocks` does, without the call: for several hundred elements it counts.
        return _sine(array) if array.size <= BLOCK else in_blocks(_sine, array)
    except FloatingPointError:  # somebody wants to hear of underflow: there is none in a sine
        return np.sin(array)


def cosine(array: Any) -> Any:
    """`np.cos(array)`."""
    if not _goes_by_tangents(array):
        return in_threads(np.cos, array)
    return in_blocks(_cosine, array)


def slope_of_sine(array: Any) -> Any:
    """`np.cos(array)` for a gradient: to within 2**-51."""
    if not _goes_by_tangents(array):
        return in_threads(np.cos, array)
    try:
        return in_blocks(_slope_of_sine, array)
    except FloatingPointError:
        return np.cos(array)


def sine_and_cosine(array: Any, is_recorded: bool) -> tuple[Any, Any]:
    """`np.sin(array)`, and `slope_of_sine(array)` where it is wanted and next to nothing more."""
    if not (is_recorded and _goes_by_tangents(array) and array.size <= _LITTLE):
        return sine(array), None
    try:
        return _sine_and_slope(array)
    except FloatingPointError:
        return np.sin(array), None


def cosine_and_sine(array: Any, is_recorded: bool) -> tuple[Any, Any]:
    """`np.cos(array)`, and `np.sin(array)` where it is wanted and half of the work is shared."""
    cosines = cosine(array)
    if not (is_recorded and _goes_by_tangents(array) and array.size <= _LITTLE):
        return cosines, None
    tangents = np.tan(array)
    return cosines, np.multiply(tangents, cosines, tangents)


def _goes_by_tangents(array: Any) -> bool:
    return (
        array.dtype is _FLOAT64
        and array.size >= SEVERAL
        and type(array) is np.ndarray
        and _tangent_is_quick()
    )


def _sine(x: Array, out: Array | None = None) -> Array:
    tangent, weight = _tangent_and_weight(x, out)
    return np.multiply(tangent, weight, tangent)


def _slope_of_sine(x: Array, out: Array | None = None) -> Array:
    _, weight = _tangent_and_weight(x, out)
    return np.subtract(weight, _ONE, out)


def _sine_and_slope(x: Array) -> tuple[Array, Array]:
    tangent, weight = _tangent_and_weight(x)
    return np.multiply(tangent, weight, tangent), np.subtract(weight, _ONE, weight)


def _tangent_and_weight(x: Array, out: Array | None = None) -> tuple[Array, Array]:
    """The tangent t of x / 2, and 2 / (1 + t**2): times t the sine, less one the cosine."""
    tangent = np.multiply(x, _HALF, out)
    np.tan(tangent, tangent)
    weight = np.multiply(tangent, tangent)
    np.add(weight, _ONE, weight)
    return tangent, np.divide(_TWO, weight, weight)


def _cosine(x: Array, out: Array | None = None) -> Array:
    tangent = np.abs(x)
    np.add(tangent, _TINY, tangent)
    out = np.multiply(tangent, _HALF, out)
    np.tan(tangent, tangent)
    np.tan(out, out)
    np.divide(out, tangent, tangent)
    np.multiply(out, out, out)
    np.add(out, _ONE, out)
    np.divide(tangent, out, out)
    return np.add(out, out, out)


@cache
def _tangent_is_quick() -> bool:
    """Whether NumPy's tangent of float64 is the vectorised one, on this machine."""
    introspect = getattr(np.lib, "introspect", None)  # since NumPy 2.1
    if introspect is None:
        return False
    found = introspect.opt_func_info(func_name="^tan$", signature="float64")
    targets = [entry["current"] for entry in found.get("tan", {}).values()]
    return targets in (["X86_V4"], ["AVX512_SKX"])  # two names of one thing

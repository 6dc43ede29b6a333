"""Random numbers of a dtype as arrays, drawn from the generator that is in use."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..dtypes.promotion import type_name
from .captured import is_any
from .random_generator import generator
from .user_warnings import warn

Array: TypeAlias = np.ndarray[Any, Any]
DType: TypeAlias = np.dtype[Any]


def cast_numbers(drawn: Any, dtype: DType) -> Array:
    """Return numbers as an array of a dtype; one that has it is returned itself."""
    cast: Array = np.asanyarray(drawn).astype(dtype, copy=False)
    return cast


def uniform_numbers(shape: tuple[int, ...], dtype: DType) -> Array:
    """Return numbers in [0, 1), each drawn in its own precision: rounding could make a 1."""
    if dtype.kind == "c":
        parts = [uniform_numbers(shape, np.zeros((), dtype).real.dtype) for _ in range(2)]
        return cast_numbers(parts[0] + 1j * parts[1], dtype)
    if dtype == np.float16:
        return cast_numbers(generator().integers(0, 2**11, shape) / 2**11, dtype)
    if dtype.kind != "f":
        raise NotImplementedError(f"random numbers in [0, 1) are not implemented for {dtype}")
    precise = dtype if dtype in (np.float32, np.float64) else np.dtype(np.float64)
    return cast_numbers(generator().random(shape, dtype=precise.type), dtype)


def uniform_between(low: float, high: float, shape: tuple[int, ...], dtype: DType) -> Array:
    """Return numbers in [low, high), in both parts of complex ones.

    RuntimeError for bounds that the dtype does not hold, that are in the wrong order, or whose
    distance it does not hold.
    """
    if dtype.kind == "c":
        parts = [uniform_between(low, high, shape, np.zeros((), dtype).real.dtype) for _ in "ri"]
        return cast_numbers(parts[0] + 1j * parts[1], dtype)
    largest = float(np.finfo(dtype).max)
    for name, bound in (("from", low), ("to", high)):
        if not -largest <= bound <= largest:
            raise RuntimeError(f"{name} is out of bounds for {type_name(dtype)}")
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}"
        )
    if high - low > largest:
        raise RuntimeError(
            f"uniform_ expects to-from <= the largest number of {type_name(dtype)}, but found "
            f"to={high} and from={low} which result in to-from to exceed the limit"
        )
    drawn = cast_numbers(generator().uniform(low, high, shape), dtype)
    last = np.nextafter(dtype.type(high), dtype.type(low))
    return np.asanyarray(np.minimum(drawn, last))  # rounding could make the upper bound


def normal_numbers(mean: Any, std: Any, shape: tuple[int, ...], dtype: DType) -> Array:
    """Return normal numbers, of which `mean` and `std` are numbers.

    Complex ones have the mean in each of both parts, and the variance in both together.
    RuntimeError for a negative standard deviation.
    """
    check_spread(std)
    if dtype.kind == "c":
        return cast_numbers(standard_normal(shape, dtype) * std + mean * (1 + 1j), dtype)
    return cast_numbers(generator().normal(mean, std, shape), dtype)


def check_spread(std: Any) -> None:
    """Raise RuntimeError for a negative standard deviation, a number or an array of them."""
    if is_any(~np.greater_equal(std, 0)):
        if isinstance(std, np.ndarray):
            raise RuntimeError("normal expects all elements of std >= 0.0")
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")


def standard_normal(shape: tuple[int, ...], dtype: DType) -> Array:
    """Return normal numbers of mean 0 and variance 1, which complex ones have in both parts."""
    if dtype.kind == "c":
        real, imaginary = generator().standard_normal((2, *shape)) / np.sqrt(2)
        return cast_numbers(real + 1j * imaginary, dtype)
    if dtype.kind != "f":
        raise NotImplementedError(f"normal random numbers are not implemented for {dtype}")
    return cast_numbers(generator().standard_normal(shape), dtype)


def integers_between(low: int, high: int, shape: tuple[int, ...], dtype: DType) -> Array:
    """Return integers from `low` to before `high`, as numbers of a dtype.

    RuntimeError for bounds in the wrong order, and for those that the dtype does not hold. Of
    floats there is a warning where not every integer between them is one.
    """
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    smallest, largest = _range_of(dtype)
    for name, bound in (("from", low), ("to - 1", high - 1)):
        if not smallest <= bound <= largest:
            raise RuntimeError(f"{name} is out of bounds for {type_name(dtype)}")
    if dtype.kind == "f":
        low, high = _representable(low, high, dtype)
    kind = np.uint64 if high > 1 << 63 else np.int64
    return cast_numbers(generator().integers(low, high, shape, kind), dtype)


def _range_of(dtype: DType) -> tuple[int, int]:
    """Return the smallest and the largest integer of a dtype, of those with 64 bits."""
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind == "f":
        limit = int(np.finfo(dtype).max)
        return max(-limit, -(1 << 63)), min(limit, (1 << 64) - 1)
    if dtype.kind not in "iu":
        raise NotImplementedError(f"\"random_\" not implemented for '{type_name(dtype)}'")
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _representable(low: int, high: int, dtype: DType) -> tuple[int, int]:
    """Return bounds of integers that a float dtype rounds to no number outside of the given ones.

    Up to 2 to the number of its digits, every integer is an element.
    """
    limit = largest_exact(dtype)
    for name, bound in (("from", low), ("to - 1", high - 1)):
        if not -limit <= bound <= limit:
            warn(
                f"{name} is out of bounds [-{limit}, {limit}]: beyond them not every integer is a "
                f"number of {type_name(dtype)}"
            )
    first, last = dtype.type(low), dtype.type(high - 1)
    if int(first) < low:
        first = np.nextafter(first, dtype.type(np.inf))
    if int(last) >= high:
        last = np.nextafter(last, dtype.type(-np.inf))
    return int(first), int(last) + 1


def largest_exact(dtype: DType) -> int:
    """Return the largest integer up to which all are elements of a dtype."""
    if dtype.kind == "b":
        return 1
    return 1 << np.finfo(dtype).nmant + 1 if dtype.kind == "f" else int(np.iinfo(dtype).max)

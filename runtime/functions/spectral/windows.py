"""Windows of signals: `hann_window` and its kin.

Periodic ones, the default, are the first elements of a window that is longer by one; definitions
as in PyTorch: generalized cosine windows, Bartlett's triangle and Kaiser's window.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ...core.tensor import Tensor
from ...dispatch.numbers_given import flag_given, real_given
from ...dtypes.whole_numbers import whole_number
from ..creation import float_dtype, leaf
from ..creation_options import PLACE, creates

Array: TypeAlias = np.ndarray[Any, Any]


def _window(
    name: str,
    length: int,
    periodic: bool,
    dtype: Any,
    requires_grad: bool,
    at: Callable[[Array, int], Array],
) -> Tensor:
    """Compute a window in float64; `at` has its values at positions, given the last of them."""
    length = whole_number(name, "window_length", length)
    periodic = flag_given(name, "periodic", periodic)
    chosen = float_dtype(dtype)
    if chosen.kind != "f":
        raise RuntimeError(f"{name} expects floating point dtypes, got: {chosen}")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got {length}")
    if length == 1:
        return leaf(np.ones(1, chosen), requires_grad)
    last = length if periodic else length - 1
    return leaf(at(np.arange(length, dtype=np.float64), last).astype(chosen), requires_grad)


def cosines(*factors: float) -> Callable[[Array, int], Array]:
    """Return the sum of cosines of 0, 1, 2... turns, with factors of alternating sign."""

    def at(n: Array, last: int) -> Array:
        terms = (
            (-1) ** k * factor * np.cos(2 * np.pi * k * n / last)
            for k, factor in enumerate(factors)
        )
        return np.asarray(sum(terms))

    return at


def triangle(n: Array, last: int) -> Array:
    """Return what rises from 0 to 1, and falls to 0 again."""
    return np.asarray(1 - np.abs(2 * n / last - 1))


def bessel(beta: float) -> Callable[[Array, int], Array]:
    """Return Kaiser's quotient of Bessel functions."""

    def at(n: Array, last: int) -> Array:
        root = np.sqrt(np.maximum(1 - (2 * n / last - 1) ** 2, 0))
        return np.asarray(np.i0(beta * root) / np.i0(beta))

    return at


@creates(*PLACE)
def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """Hann's window: `(1 - cos(2 pi n / N)) / 2`."""
    values = cosines(0.5, 0.5)
    return _window("hann_window", window_length, periodic, dtype, requires_grad, values)


@creates(*PLACE)
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Hamming's window: `alpha - beta * cos(2 pi n / N)`."""
    factors = (real_given("hamming_window", n, v) for n, v in (("alpha", alpha), ("beta", beta)))
    values = cosines(*factors)
    return _window("hamming_window", window_length, periodic, dtype, requires_grad, values)


@creates(*PLACE)
def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """Blackman's window: `0.42 - 0.5 * cos(2 pi n / N) + 0.08 * cos(4 pi n / N)`."""
    values = cosines(0.42, 0.5, 0.08)
    return _window("blackman_window", window_length, periodic, dtype, requires_grad, values)


@creates(*PLACE)
def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """Bartlett's window: a triangle from 0 to 1 and back to 0."""
    return _window("bartlett_window", window_length, periodic, dtype, requires_grad, triangle)


@creates(*PLACE)
def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Kaiser's window: `i0(beta * sqrt(1 - (2 n / N - 1)**2)) / i0(beta)`."""
    values = bessel(real_given("kaiser_window", "beta", beta))
    return _window("kaiser_window", window_length, periodic, dtype, requires_grad, values)

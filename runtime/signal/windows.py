"""Windows of signals under the names and definitions of `torch.signal.windows`.

A symmetric window (`sym`, the default) of `M` points ends where it began; a periodic one is the
first part of a symmetric one that is longer by one. They are computed in float64, and are float32
or float64; ValueError for other dtypes, and for a negative length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np

from ..core.tensor import Tensor
from ..functions.creation import float_dtype, leaf
from ..functions.creation_options import PLACE, creates
from ..functions.spectral.windows import bessel, cosines, triangle

__all__ = [
    *("bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine"),
    *("general_hamming", "hamming", "hann", "kaiser", "nuttall"),
]

Array: TypeAlias = np.ndarray[Any, Any]


def _checked(name: str, M: int, dtype: Any) -> np.dtype[Any]:
    """The dtype of a window; ValueError for one that cannot be."""
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    chosen = float_dtype(dtype)
    if chosen not in (np.float32, np.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {chosen}")
    return chosen


def _window(
    M: int, dtype: np.dtype[Any], requires_grad: bool, at: Callable[[Array], Array]
) -> Tensor:
    """A window by its values at 0, 1, ... M - 1."""
    return leaf(at(np.arange(M, dtype=np.float64)).astype(dtype), requires_grad)


def _from_end_to_end(
    M: int,
    sym: bool,
    dtype: np.dtype[Any],
    requires_grad: bool,
    at: Callable[[Array, int], Array],
) -> Tensor:
    """A window by its values, given the last point; one of a single point is 1."""
    if M < 2:
        return _window(M, dtype, requires_grad, np.ones_like)
    return _window(M, dtype, requires_grad, lambda n: at(n, _last(M, sym)))


def _last(M: int, sym: bool) -> int:
    """The point at which the window is what it was at 0."""
    return M - 1 if sym else M


@creates(*PLACE)
def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`exp(-|n - center| / tau)`; ValueError for a center of a symmetric window."""
    chosen = _checked("exponential", M, dtype)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = _last(M, sym or M == 1) / 2 if center is None else center
    return _window(M, chosen, requires_grad, lambda n: np.exp(-np.abs(n - middle) / tau))


@creates(*PLACE)
def cosine(M: int, *, sym: bool = True, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """`sin(pi (n + 1/2) / N)`, where `N` is `M`, or `M + 1` of a periodic window."""
    chosen = _checked("cosine", M, dtype)
    length = M + 1 if not sym and M > 1 else M
    return _window(M, chosen, requires_grad, lambda n: np.sin(np.pi * (n + 0.5) / length))


@creates(*PLACE)
def gaussian(
    M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """`exp(-((n - middle) / std)² / 2)`."""
    chosen = _checked("gaussian", M, dtype)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    middle = _last(M, sym or M == 1) / 2
    return _window(M, chosen, requires_grad, lambda n: np.exp(-0.5 * ((n - middle) / std) ** 2))


@creates(*PLACE)
def kaiser(
    M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """`I0(beta sqrt(1 - x²)) / I0(beta)`, where `x` goes from -1 to 1."""
    chosen = _checked("kaiser", M, dtype)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _from_end_to_end(M, sym, chosen, requires_grad, bessel(beta))


@creates(*PLACE)
def bartlett(M: int, *, sym: bool = True, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """`1 - |2 n / N - 1|`: a triangle."""
    chosen = _checked("bartlett", M, dtype)
    return _from_end_to_end(M, sym, chosen, requires_grad, triangle)


@creates(*PLACE)
def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    sym: bool = True,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`a[0] - a[1] cos(2 pi n / N) + a[2] cos(4 pi n / N) - ...`."""
    chosen = _checked("general_cosine", M, dtype)
    factors = list(a) if isinstance(a, Iterable) else None
    if M > 1 and factors is None:
        raise TypeError("Coefficients must be a list/tuple")
    if M > 1 and not factors:
        raise ValueError("Coefficients cannot be empty")
    return _from_end_to_end(M, sym, chosen, requires_grad, cosines(*factors or ()))


@creates(*PLACE)
def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`alpha - (1 - alpha) cos(2 pi n / N)`."""
    return general_cosine(
        M, a=[alpha, 1 - alpha], sym=sym, dtype=dtype, requires_grad=requires_grad
    )


@creates(*PLACE)
def hamming(M: int, *, sym: bool = True, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """`0.54 - 0.46 cos(2 pi n / N)`."""
    return general_cosine(M, a=[0.54, 0.46], sym=sym, dtype=dtype, requires_grad=requires_grad)


@creates(*PLACE)
def hann(M: int, *, sym: bool = True, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """`(1 - cos(2 pi n / N)) / 2`."""
    return general_cosine(M, a=[0.5, 0.5], sym=sym, dtype=dtype, requires_grad=requires_grad)


@creates(*PLACE)
def blackman(M: int, *, sym: bool = True, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """`0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)`."""
    _checked("blackman", M, dtype)
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, requires_grad=requires_grad)


@creates(*PLACE)
def nuttall(M: int, *, sym: bool = True, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Nuttall's window of four terms, whose side lobes are low."""
    factors = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return general_cosine(M, a=factors, sym=sym, dtype=dtype, requires_grad=requires_grad)

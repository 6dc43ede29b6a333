"""The namespace `fft` of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .. import fft
from .arguments import as_tensor


def _one(function: Callable[..., Any]) -> Callable[..., Any]:
    def transform(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
        return function(as_tensor(a), n, axis, norm)

    return transform


def _several(function: Callable[..., Any], default: Any) -> Callable[..., Any]:
    def transform(a: Any, s: Any = None, axes: Any = default, norm: str | None = None) -> Any:
        return function(as_tensor(a), s, axes, norm)

    return transform


def _shift(function: Callable[..., Any]) -> Callable[..., Any]:
    def shift(x: Any, axes: Any = None) -> Any:
        return function(as_tensor(x), axes)

    return shift


FOURIER: Final[dict[str, Callable[..., Any]]] = {
    **{
        name: _one(getattr(fft, name)) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    },
    **{
        name: _several(getattr(fft, name), (-2, -1))
        for name in ("fft2", "ifft2", "rfft2", "irfft2")
    },
    **{name: _several(getattr(fft, name), None) for name in ("fftn", "ifftn", "rfftn", "irfftn")},
    **{name: _shift(getattr(fft, name)) for name in ("fftshift", "ifftshift")},
}
"""The overrides by their names in `numpy.fft`."""

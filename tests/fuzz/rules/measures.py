"""Slopes, pairings and sizes of arrays of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

SMOOTH = 1e-4
"""Slopes of both sides that differ by less, relative to their size, are those of a smooth line."""

HUGE = 1e5
"""A larger slope tells nothing."""


def slope_of(here: Array, near: Array, far: Array, step: float) -> Array:
    """The slope from three points of a side; inf where they do not lie near a line."""
    close, wide = (near - here) / step, (far - here) / (2 * step)
    bent = np.abs(close - wide) > 0.05 * np.maximum(np.abs(close), np.abs(wide)) + 1e-2
    return np.where(bent, np.inf, 2 * close - wide)


def pairing(left: Array, right: Array) -> float:
    return float(np.real(np.sum(np.conj(left) * right)))


def magnitude(left: Array, right: Array) -> float:
    return float(np.sum(np.abs(left) * np.abs(right)))


def is_smooth(ahead: Array, behind: Array) -> bool:
    size = np.maximum(np.abs(ahead), np.abs(behind)).max(initial=1e-3)
    return bool(
        np.isfinite(size) and size < HUGE and (np.abs(ahead - behind) <= SMOOTH * size).all()
    )


def is_finite(array: Array) -> bool:
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def single(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: [to_single(item) for item in value] if isinstance(value, list) else to_single(value)
        for name, value in values.items()
    }


def to_single(value: Any) -> Any:
    kinds = {"f": np.float32, "c": np.complex64}
    if isinstance(value, np.ndarray) and value.dtype.kind in kinds:
        return value.astype(kinds[value.dtype.kind])
    return value


def short(array: Array) -> str:
    return np.array2string(array, threshold=6, precision=6).replace("\n", "")

"""Slopes, pairings and sizes of arrays of numbers, and calls as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...spec.model import OpSpec

Array = np.ndarray[Any, Any]

SMOOTH = 1e-4
"""Slopes of both sides that differ by less, relative to their size, are those of a smooth line."""

BENT = 5e-4
"""Quotients of a step and of two that differ by more, relative to their size, are no slope yet."""

HUGE = 1e5
"""A larger slope tells nothing."""


def slope_of(here: Array, near: Array, far: Array, step: float) -> Array:
    """The slope from three points of a side; inf where they do not lie near a line."""
    close, wide = (near - here) / step, (far - here) / (2 * step)
    bent = np.abs(close - wide) > BENT * np.maximum(np.abs(close), np.abs(wide)) + BENT / 5
    return np.where(bent, np.inf, 2 * close - wide)


def limit_of(first: Array, second: Array, third: Array) -> Array:
    """The limit of quotients that approach one, as those of `x ** 1.5` at zero; inf elsewhere."""
    one, other = second - first, third - second
    approaches = np.abs(other) < 0.5 * np.abs(one)
    apart = np.where(approaches & (one != other), other - one, 1)
    return np.where(approaches, third - other * other / apart, np.inf)


def extrapolated(slopes: list[float]) -> tuple[float, float]:
    """The limit of symmetric quotients of one, two and four steps, and how far it may be off."""
    near, far = ((4 * slopes[k] - slopes[k + 1]) / 3 for k in (0, 1))
    return near, abs(near - far)


def pairing(left: Array, right: Array) -> float:
    return float((left.conj() * right).sum().real)


def magnitude(left: Array, right: Array) -> float:
    return float((np.abs(left) * np.abs(right)).sum())


def is_smooth(ahead: Array, behind: Array) -> bool:
    size = np.maximum(np.abs(ahead), np.abs(behind)).max(initial=1e-3)
    return bool(
        np.isfinite(size) and size < HUGE and (np.abs(ahead - behind) <= SMOOTH * size).all()
    )


def is_steep(ahead: Array, behind: Array) -> Array:
    """Return where the slope of a side is infinite, or both are nan: there are no values."""
    return np.asarray(np.isinf(ahead) | np.isinf(behind) | (np.isnan(ahead) & np.isnan(behind)))


def bends(ahead: Array, behind: Array) -> Array:
    """Return where the slopes of both sides differ."""
    size = np.maximum(np.abs(ahead), np.abs(behind)).max(
        initial=1e-3, where=~np.isnan(ahead - behind)
    )
    return np.asarray(np.abs(ahead - behind) > SMOOTH * size)


def is_finite(array: Array) -> bool:
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def to_single(value: Any) -> Any:
    kinds = {"f": np.float32, "c": np.complex64}
    if isinstance(value, np.ndarray) and value.dtype.kind in kinds:
        return value.astype(kinds[value.dtype.kind])
    return value


def short(array: Array) -> str:
    return np.array2string(array, threshold=6, precision=6).replace("\n", "")


def show(spec: OpSpec, values: dict[str, Any]) -> str:
    """The call, with its numbers."""
    return f"{spec.name}({', '.join(f'{n}={_text(v)}' for n, v in values.items())})"


def _text(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, np.ndarray):
        if value.size > 12 or not value.size:
            return f"{value.dtype}{list(value.shape)}"
        return np.array2string(value, separator=", ", max_line_width=10000).replace("\n", "")
    return repr(value)

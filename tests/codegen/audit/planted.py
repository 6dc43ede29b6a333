"""A small library of derivatives to second order, some of whose rules are wrong on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Jet:
    """A value with its first and second derivative along a line."""

    def __init__(self, value: Any, first: Any = 0.0, second: Any = 0.0) -> None:
        self.value = np.asarray(value, np.float64)
        self.first = first + np.zeros_like(self.value)
        self.second = second + np.zeros_like(self.value)

    def sum(self) -> Jet:
        return self

    def map(self, value: Any, slope: Any, bend: Any) -> Jet:
        """A function of this by the chain rule."""
        return Jet(value, slope * self.first, slope * self.second + bend * self.first**2)


def _jet(t: Any) -> Jet:
    return t if isinstance(t, Jet) else Jet(t)


def value(f: Callable[[Any], Any], t: Any) -> Any:
    return _jet(f(t)).value


def first(f: Callable[[Any], Any], t: Any) -> Any:
    return f(Jet(t, 1.0)).first


def second(f: Callable[[Any], Any], t: Any) -> Any:
    return f(Jet(t, 1.0)).second


def cosine(t: Any) -> Any:
    """Has the right derivatives."""
    x = _jet(t)
    return x.map(np.cos(x.value), -np.sin(x.value), -np.cos(x.value))


def sine(t: Any) -> Any:
    """Has a wrong second derivative."""
    x = _jet(t)
    return x.map(np.sin(x.value), np.cos(x.value), -np.cos(x.value))


def exponential(t: Any) -> Any:
    """Has the wrong sign in both derivatives."""
    x = _jet(t)
    return x.map(np.exp(x.value), -np.exp(x.value), -np.exp(x.value))


def cube_over_square(t: Any) -> Any:
    """Is the identity; its derivative is wrong at zero."""
    x = _jet(t)
    return x.map(x.value, np.where(x.value == 0, 0.0, 1.0), 0.0)


def magnitude(t: Any) -> Any:
    """Has slope 1 at zero."""
    x = _jet(t)
    return x.map(np.abs(x.value), np.where(x.value >= 0, 1.0, -1.0), 0.0)


def steep_magnitude(t: Any) -> Any:
    """Has slope 2 at zero, which is not between those of both sides."""
    x = _jet(t)
    slope = np.where(x.value == 0, 2.0, np.sign(x.value))
    return x.map(np.abs(x.value), slope, 0.0)


def logistic(t: Any) -> Any:
    """Loses its derivative far out."""
    x = _jet(t)
    y = 1 / (1 + np.exp(-x.value))
    return x.map(y, y * (1 - y), y * (1 - y) * (1 - 2 * y))

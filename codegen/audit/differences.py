"""Slopes of a function of one number by differences, from both sides: no rule is involved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_STEPS = ((2.0**-7, 2.0**-9), (2.0**-10, 2.0**-12))
"""Pairs of steps: the smaller ones for what bends more."""
_AGREEMENT = 2e-3
"""Differences with two steps agree to this, or say nothing."""
_NOISE = 1e-6
"""Rounding of the values in differences of second order."""


@dataclass(frozen=True, slots=True)
class Slopes:
    """One derivative by differences; None where steps of two sizes do not agree."""

    left: float | None
    right: float | None
    middle: float | None
    noise: float = 1e-6
    """The size of what rounding makes of zero."""

    @property
    def is_smooth(self) -> bool:
        """Return whether both sides are known and equal."""
        if self.left is None or self.right is None or self.middle is None:
            return False
        return self.are_close(self.left, self.right) and self.are_close(self.middle, self.right)

    def are_close(self, a: float, b: float) -> bool:
        """Return whether two slopes are equal as far as differences tell."""
        return abs(a - b) <= 5e-3 * max(abs(a), abs(b)) + self.noise


def slopes(function: Callable[[float], float], at: float, order: int) -> Slopes:
    """The first or second derivative at a point."""
    sides = _ONE_SIDED[order]
    noise = _NOISE * max(1.0, abs(function(at)))
    return Slopes(
        _agreed(function, at, sides, -1, order, noise),
        _agreed(function, at, sides, 1, order, noise),
        _agreed(function, at, _CENTRAL[order], 1, order, noise),
        noise,
    )


_ONE_SIDED = {
    1: {0: -11 / 6, 1: 3.0, 2: -1.5, 3: 1 / 3},
    2: {0: 35 / 12, 1: -26 / 3, 2: 19 / 2, 3: -14 / 3, 4: 11 / 12},
}
_CENTRAL = {
    1: {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12},
    2: {-2: -1 / 12, -1: 4 / 3, 0: -2.5, 1: 4 / 3, 2: -1 / 12},
}


def _agreed(
    function: Callable[[float], float],
    at: float,
    weights: dict[int, float],
    side: int,
    order: int,
    noise: float,
) -> float | None:
    """The difference with the smaller step, if that with the larger one is about the same."""
    for steps in _STEPS:
        found = []
        for step in steps:
            h = step * max(1.0, float(2.0 ** np.round(np.log2(abs(at))))) if at else step
            terms = [w * function(at + side * place * h) for place, w in weights.items()]
            found.append(sum(terms) / (side * h) ** order)
        coarse, fine = found
        if np.isfinite(found).all() and abs(coarse - fine) <= _AGREEMENT * abs(fine) + noise:
            return fine
    return None

"""The generator of random numbers that all threads share."""

from __future__ import annotations

from typing import Final

import numpy as np


class _Source:
    """The generator; NumPy's own lock makes it safe to draw from several threads."""

    __slots__ = ("generator",)

    def __init__(self) -> None:
        self.generator: np.random.Generator | None = None


_source: Final = _Source()


def manual_seed(seed: int) -> None:
    """Start the sequence of random numbers anew."""
    _source.generator = np.random.default_rng(int(seed) % 2**64)


def generator() -> np.random.Generator:
    """The generator that random tensors are drawn from.

    Made at first use: importing `numpy.random` takes as long as much of gradspec.
    """
    if _source.generator is None:
        _source.generator = np.random.default_rng()
    return _source.generator

"""The generator of random numbers that all threads share."""

from __future__ import annotations

from typing import Final

import numpy as np

from .levels import has_open_levels, open_levels


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

    RuntimeError inside `vmap`, unless all examples are to have the same numbers. Made at first
    use: importing `numpy.random` takes as long as much of gradspec.
    """
    for level in open_levels() if has_open_levels() else ():
        if level.randomness == "error":
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use "
                "the 'same' or 'different' randomness flags on vmap or perform the randomness "
                "operation out of vmap"
            )
        if level.randomness == "different":
            raise NotImplementedError(
                "vmap(randomness='different') is not supported: draw the random numbers outside, "
                "and pass them as an argument"
            )
    if _source.generator is None:
        _source.generator = np.random.default_rng()
    return _source.generator

"""Sequences of points that fill a cube evenly, as in `torch.quasirandom`; SciPy computes them."""

from __future__ import annotations

import warnings
from typing import Any, Final

import numpy as np

from .core.random_generator import generator
from .core.tensor import Tensor, wrap
from .functions.creation import float_dtype
from .inplace.keywords import write_out

__all__ = ["SobolEngine"]


class SobolEngine:
    """Draws the points of a Sobol' sequence in the unit cube of a number of dimensions.

    With `scramble` the points are those of a sequence shifted and scrambled at random, by `seed`,
    or by numbers of the default generator. ValueError for a dimension beyond 1 to 21201.
    """

    MAXBIT: Final = 30
    MAXDIM: Final = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]"
            )
        self.dimension = dimension
        self.scramble = scramble
        self.seed = seed
        self.num_generated = 0
        drawn = int(generator().integers(1 << 62)) if scramble and seed is None else seed
        self._points = _sequence()(dimension, scramble=scramble, bits=self.MAXBIT, seed=drawn)

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """The next `n` points, one a row, in the default dtype if none is given."""
        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: [{n}, {self.dimension}]"
            )
        if dtype is None and out is not None:
            dtype = out.array.dtype
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about numbers that are no power of two
            points = self._points.random(n) if n else np.empty((0, self.dimension))
        self.num_generated += n
        made = wrap(points.astype(float_dtype(dtype)))
        if out is None:
            return made
        written: Tensor = write_out("draw", made, out)
        return written

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """The next `2**m` points; ValueError unless that makes a power of two altogether."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead."
            )
        return self.draw(n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Begin again with the first point."""
        self._points.reset()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out the next `n` points."""
        if n:
            self._points.fast_forward(n)
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        parts = [f"dimension={self.dimension}"]
        if self.scramble:
            parts.append("scramble=True")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"SobolEngine({', '.join(parts)})"


def _sequence() -> Any:
    """SciPy's class of Sobol' sequences; ImportError without SciPy."""
    try:
        from scipy.stats import qmc
    except ImportError as error:
        raise ImportError(
            "SobolEngine is computed by SciPy, which is not installed: "
            "pip install 'gradspec[special]'"
        ) from error
    return qmc.Sobol

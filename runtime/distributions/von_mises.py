"""Von Mises distribution: angles around a direction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..core.random_generator import generator
from ..dispatch.registry import ops
from . import constraints
from .distribution import Distribution, Values, batch_of, broadcast_all
from .draws import drawn


class VonMises(Distribution):
    """Distribution of angles around `loc`, the narrower the larger `concentration`."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "concentration": constraints.positive,
    }
    support: Any = constraints.real

    def __init__(
        self, loc: Values, concentration: Values, validate_args: bool | None = None
    ) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(batch_of(self.loc, loc, concentration), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        return self._expanded(batch_shape, ("loc", "concentration"))

    @property
    def mean(self) -> Any:
        """Return the mean direction."""
        return self.loc

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return self.loc

    @property
    def variance(self) -> Any:
        """Return the circular variance."""
        k = self.concentration
        return 1 - ops.special_i1e(k) / ops.special_i0e(k)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples."""
        shape = self._extended_shape(sample_shape)
        return drawn(
            lambda loc, k: generator().vonmises(loc, k, shape),
            self.loc.dtype,
            self.loc,
            self.concentration,
        )

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        k = self.concentration
        log_bessel = ops.special_i0e(k).log() + k
        return k * ops.cos(value - self.loc) - math.log(2 * math.pi) - log_bessel

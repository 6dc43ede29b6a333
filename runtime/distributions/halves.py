"""Distributions of the absolute values of numbers around 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from . import constraints
from .continuous import Cauchy, Normal
from .distribution import Distribution, Values, constant_like


class _Half(Distribution):
    """Base of the distributions of absolute values of `base_dist`, which is symmetric around 0."""

    arg_constraints: ClassVar[Any] = {"scale": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True
    symmetric: ClassVar[type[Distribution]]

    def __init__(self, scale: Values, validate_args: bool | None = None) -> None:
        symmetric: Any = self.symmetric
        self.base_dist = symmetric(0, scale, validate_args=False)
        self.scale = self.base_dist.scale
        super().__init__(self.base_dist.batch_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        new = self._expanded(batch_shape, ("scale",))
        new.base_dist = self.base_dist.expand(batch_shape)
        return new

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return constant_like(self.scale, 0)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        return self.base_dist.rsample(sample_shape).abs()

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        found = self.base_dist.log_prob(value) + math.log(2)
        return found.masked_fill(value < 0, -math.inf)

    def cdf(self, value: Values) -> Any:
        """Compute the probability of what is not above `value`."""
        self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Values) -> Any:
        """Compute the value of which the `cdf` is given."""
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Any:
        """Compute the entropy."""
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """Distribution of the absolute values of normal numbers of mean 0."""

    symmetric = Normal

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        """Return the variance."""
        return self.scale**2 * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """Distribution of the absolute values of Cauchy numbers around 0."""

    symmetric = Cauchy

    @property
    def mean(self) -> Any:
        """Return infinity."""
        return constant_like(self.scale, math.inf)

    @property
    def variance(self) -> Any:
        """Return the variance, which is infinite."""
        return self.base_dist.variance

"""Distributions of the absolute values of numbers around 0."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from . import constraints
from .continuous import Cauchy, Normal
from .distribution import Distribution, Values, constant_like
from .transformed import TransformedDistribution
from .vector_transforms import AbsTransform


class _Half(TransformedDistribution):
    """Base of the distributions of absolute values of `base_dist`, which is symmetric around 0."""

    arg_constraints: ClassVar[Any] = {"scale": constraints.positive}
    support: Any = constraints.nonnegative
    symmetric: ClassVar[type[Distribution]]

    def __init__(self, scale: Values, validate_args: bool | None = None) -> None:
        symmetric: Any = self.symmetric
        base = symmetric(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args)

    @property
    def scale(self) -> Any:
        """Return the scale of the base."""
        return self.base_dist.scale  # type: ignore[attr-defined]

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return constant_like(self.scale, 0)

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

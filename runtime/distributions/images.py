"""Images of uniform, normal and gamma numbers under transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..dispatch.registry import ops
from . import constraints
from .continuous import Exponential, Normal, Uniform
from .distribution import Values, batch_of, broadcast_all, constant_like
from .gammas import Gamma
from .transformed import TransformedDistribution
from .transforms import AffineTransform, ExpTransform, PowerTransform, StickBreakingTransform

EULER = 0.57721566490153286060


class _Image(TransformedDistribution):
    """Base of images with parameters, from which `__init__` makes the base and the transforms."""

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        new = super().expand(batch_shape)
        for name in self.arg_constraints:
            setattr(new, name, getattr(self, name).expand(batch_shape))
        return new


class Gumbel(_Image):
    """Gumbel distribution of maxima, with the mode `loc`."""

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real

    def __init__(self, loc: Values, scale: Values, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        info = np.finfo(self.loc.dtype)
        like = self.loc.expand(batch_of(self.loc, loc, scale))
        base = Uniform(
            constant_like(like, float(info.tiny)),
            constant_like(like, 1 - float(info.eps)),
            validate_args=validate_args,
        )
        parts = [
            ExpTransform().inv,
            AffineTransform(0, -constant_like(self.scale, 1)),
            ExpTransform().inv,
            AffineTransform(self.loc, -self.scale),
        ]
        super().__init__(base, parts, validate_args)

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self.loc + self.scale * EULER

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return self.loc

    @property
    def variance(self) -> Any:
        """Return the variance."""
        return (math.pi / math.sqrt(6) * self.scale) ** 2

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        z = (self.loc - value) / self.scale
        return z - z.exp() - self.scale.log()

    def entropy(self) -> Any:
        """Compute the entropy."""
        return self.scale.log() + (1 + EULER)


class Weibull(_Image):
    """Weibull distribution of the scale and the shape `concentration`."""

    arg_constraints: ClassVar[Any] = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }
    support: Any = constraints.positive

    def __init__(
        self, scale: Values, concentration: Values, validate_args: bool | None = None
    ) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(constant_like(self.scale, 1), validate_args=validate_args)
        parts = [
            PowerTransform(self.concentration.reciprocal()),
            AffineTransform(0, self.scale),
        ]
        super().__init__(base, parts, validate_args)

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self.scale * ops.lgamma(1 + self.concentration.reciprocal()).exp()

    @property
    def mode(self) -> Any:
        """Return the mode."""
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self) -> Any:
        """Return the variance."""
        inverse = self.concentration.reciprocal()
        first, second = ops.lgamma(1 + inverse), ops.lgamma(1 + 2 * inverse)
        return self.scale**2 * (second.exp() - (2 * first).exp())

    def entropy(self) -> Any:
        """Compute the entropy."""
        inverse = self.concentration.reciprocal()
        return EULER * (1 - inverse) + (self.scale * inverse).log() + 1


class Pareto(_Image):
    """Pareto distribution of numbers above `scale`, with the tail `alpha`."""

    arg_constraints: ClassVar[Any] = {
        "alpha": constraints.positive,
        "scale": constraints.positive,
    }

    def __init__(self, scale: Values, alpha: Values, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """Return the numbers that are not below the scale."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Any:
        """Return the mean; infinite where `alpha` is at most 1."""
        alpha = self.alpha.clamp(min=1)
        return alpha * self.scale / (alpha - 1)

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return self.scale

    @property
    def variance(self) -> Any:
        """Return the variance; infinite where `alpha` is at most 2."""
        alpha = self.alpha.clamp(min=2)
        return self.scale**2 * alpha / ((alpha - 1) ** 2 * (alpha - 2))

    def entropy(self) -> Any:
        """Compute the entropy."""
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Kumaraswamy(_Image):
    """Kumaraswamy's distribution of numbers between 0 and 1."""

    arg_constraints: ClassVar[Any] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support: Any = constraints.unit_interval

    def __init__(
        self, concentration1: Values, concentration0: Values, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(
            constant_like(self.concentration0, 0),
            constant_like(self.concentration0, 1),
            validate_args=validate_args,
        )
        parts = [
            PowerTransform(self.concentration0.reciprocal()),
            AffineTransform(1.0, -1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]
        super().__init__(base, parts, validate_args)

    def _moment(self, order: int) -> Any:
        a, b = self.concentration1, self.concentration0
        first = 1 + order / a
        return (b.log() + ops.lgamma(first) + ops.lgamma(b) - ops.lgamma(first + b)).exp()

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self._moment(1)

    @property
    def mode(self) -> Any:
        """Return NaN, as PyTorch does, which takes logarithms of negative numbers."""
        a, b = self.concentration1, self.concentration0
        found = (-b).log1p() / b - (-a * b).log1p()
        return found.masked_fill((a < 1) | (b < 1), math.nan).exp()

    @property
    def variance(self) -> Any:
        """Return the variance."""
        return self._moment(2) - self.mean**2

    def entropy(self) -> Any:
        """Compute the entropy."""
        a, b = self.concentration1, self.concentration0
        harmonic = ops.digamma(b + 1) + EULER
        return (1 - a.reciprocal()) * harmonic + (1 - b.reciprocal()) - a.log() - b.log()


class InverseGamma(_Image):
    """Distribution of the inverses of gamma numbers."""

    arg_constraints: ClassVar[Any] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support: Any = constraints.positive

    def __init__(
        self, concentration: Values, rate: Values, validate_args: bool | None = None
    ) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        self.concentration, self.rate = base.concentration, base.rate
        super().__init__(base, PowerTransform(-constant_like(base.rate, 1)), validate_args)

    @property
    def mean(self) -> Any:
        """Return the mean; infinite where there is none."""
        found = self.rate / (self.concentration - 1)
        return ops.where(self.concentration > 1, found, constant_like(found, math.inf))

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        """Return the variance; infinite where there is none."""
        a = self.concentration
        found = self.rate**2 / ((a - 1) ** 2 * (a - 2))
        return ops.where(a > 2, found, constant_like(found, math.inf))

    def entropy(self) -> Any:
        """Compute the entropy."""
        a = self.concentration
        return a + self.rate.log() + ops.lgamma(a) - (1 + a) * ops.digamma(a)


class LogisticNormal(TransformedDistribution):
    """Distribution on a simplex, from normal numbers by breaking a stick."""

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.simplex

    def __init__(self, loc: Values, scale: Values, validate_args: bool | None = None) -> None:
        base: Any = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        self.loc, self.scale = base.loc, base.scale
        super().__init__(base, StickBreakingTransform(), validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        new = super().expand(batch_shape)
        new.loc, new.scale = new.base_dist.base_dist.loc, new.base_dist.base_dist.scale
        return new

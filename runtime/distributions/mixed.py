"""Distributions made from others: mixtures, relaxed categories, images of uniform numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..core.modes import no_grad
from ..dispatch.registry import ops
from . import constraints
from .continuous import Cauchy, Exponential, Normal, Uniform
from .discrete import Bernoulli, Categorical
from .distribution import Distribution, Values, broadcast_all, constant_like
from .gammas import Gamma
from .transformed import TransformedDistribution
from .transforms import AffineTransform, ExpTransform, PowerTransform, StickBreakingTransform

EULER = 0.57721566490153286060


class HalfCauchy(Distribution):
    """Distribution of the absolute values of Cauchy numbers around 0."""

    arg_constraints: ClassVar[Any] = {"scale": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Values, validate_args: bool | None = None) -> None:
        self.base_dist = Cauchy(0, scale, validate_args=False)
        self.scale = self.base_dist.scale
        super().__init__(self.base_dist.batch_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        new = self._expanded(batch_shape, ("scale",))
        new.base_dist = self.base_dist.expand(batch_shape)
        return new

    @property
    def mean(self) -> Any:
        """Return infinity."""
        return constant_like(self.scale, math.inf)

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return constant_like(self.scale, 0)

    @property
    def variance(self) -> Any:
        """Return the variance, which is infinite."""
        return self.base_dist.variance

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


class Weibull(TransformedDistribution):
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

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        sizes = (self.scale.expand(batch_shape), self.concentration.expand(batch_shape))
        return Weibull(*sizes, validate_args=False)

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


class Pareto(TransformedDistribution):
    """Pareto distribution of numbers above `scale`, with the tail `alpha`."""

    arg_constraints: ClassVar[Any] = {
        "alpha": constraints.positive,
        "scale": constraints.positive,
    }

    def __init__(self, scale: Values, alpha: Values, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        sizes = (self.scale.expand(batch_shape), self.alpha.expand(batch_shape))
        return Pareto(*sizes, validate_args=False)

    @property
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


class Kumaraswamy(TransformedDistribution):
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

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        sizes = (self.concentration1.expand(batch_shape), self.concentration0.expand(batch_shape))
        return Kumaraswamy(*sizes, validate_args=False)

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


class InverseGamma(TransformedDistribution):
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

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        sizes = (self.concentration.expand(batch_shape), self.rate.expand(batch_shape))
        return InverseGamma(*sizes, validate_args=False)

    @property
    def mean(self) -> Any:
        """Return the mean; infinite where there is none."""
        found = self.rate / (self.concentration - 1)
        return ops.where(self.concentration > 1, found, found * 0 + math.inf)

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        """Return the variance; infinite where there is none."""
        a = self.concentration
        found = self.rate**2 / ((a - 1) ** 2 * (a - 2))
        return ops.where(a > 2, found, found * 0 + math.inf)

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
        inside = self.loc.shape[-1]
        shape = (*batch_shape, inside)
        return LogisticNormal(self.loc.expand(shape), self.scale.expand(shape), validate_args=False)


class MixtureSameFamily(Distribution):
    """Mixture of the last batch dimension of a distribution, weighed by a `Categorical`."""

    def __init__(
        self,
        mixture_distribution: Any,
        component_distribution: Any,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError("the mixture distribution needs to be an instance of Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("the component distribution needs to be a Distribution")
        batch, count = component_distribution.batch_shape[:-1], mixture_distribution._num_events
        if tuple(mixture_distribution.batch_shape) not in ((), tuple(batch)):
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({tuple(mixture_distribution.batch_shape)}) "
                "is not compatible with `component_distribution.batch_shape` "
                f"({tuple(component_distribution.batch_shape)})"
            )
        if component_distribution.batch_shape[-1] != count:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                "`component_distribution.batch_shape[-1]` "
                f"({component_distribution.batch_shape[-1]})"
            )
        self.mixture_distribution = mixture_distribution
        self.component_distribution = component_distribution
        super().__init__(batch, component_distribution.event_shape, validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        count = self.mixture_distribution._num_events
        components = self.component_distribution.expand((*batch_shape, count))
        mixture = self.mixture_distribution.expand(batch_shape)
        return MixtureSameFamily(mixture, components, validate_args=False)

    @property
    def support(self) -> Any:
        """Return that of the components."""
        return self.component_distribution.support

    @property
    def _weights(self) -> Any:
        probs = self.mixture_distribution.probs
        return probs.reshape(*probs.shape, *(1 for _ in self._event_shape))

    @property
    def _dim(self) -> int:
        return -1 - len(self._event_shape)

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return (self._weights * self.component_distribution.mean).sum(self._dim)

    @property
    def variance(self) -> Any:
        """Return the variance: that of the components, and that of their means."""
        parts, weights, dim = self.component_distribution, self._weights, self._dim
        inside = (weights * parts.variance).sum(dim)
        return inside + (weights * (parts.mean - self.mean.unsqueeze(dim)) ** 2).sum(dim)

    def cdf(self, value: Values) -> Any:
        """Compute the probability of what is not above `value`."""
        return (self.component_distribution.cdf(self._padded(value)) * self._weights).sum(-1)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        found = self.component_distribution.log_prob(self._padded(value))
        return (found + self.mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def _padded(self, value: Any) -> Any:
        return value.unsqueeze(self._dim)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples."""
        with no_grad():
            chosen = self.mixture_distribution.expand(self._batch_shape).sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            dim = len(sample_shape) + len(self._batch_shape)
            ones = (1 for _ in self._event_shape)
            index = chosen.reshape(*chosen.shape, 1, *ones)
            index = index.expand((*chosen.shape, 1, *self._event_shape))
            return drawn.gather(dim, index).squeeze(dim)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
        )


class RelaxedBernoulli(Distribution):
    """Numbers between 0 and 1, near to the ends for small temperatures (binary Concrete)."""

    arg_constraints: ClassVar[Any] = Bernoulli.arg_constraints
    support: Any = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        temperature: Values,
        probs: Values = None,
        logits: Values = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._base = Bernoulli(probs, logits, validate_args)
        super().__init__(self._base.batch_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        base = self._base.expand(batch_shape)
        return RelaxedBernoulli(self.temperature, logits=base.logits, validate_args=False)

    @property
    def logits(self) -> Any:
        """Return the log odds."""
        return self._base.logits

    @property
    def probs(self) -> Any:
        """Return the probabilities of 1."""
        return self._base.probs

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        uniform = Uniform(constant_like(self.logits, 0), constant_like(self.logits, 1))
        info = np.finfo(self.logits.dtype)
        eps = float(info.eps)
        drawn = uniform.rsample(sample_shape).clamp(min=eps, max=1 - eps)
        noise = drawn.log() - (-drawn).log1p()
        return ((noise + self.logits) / self.temperature).sigmoid().clamp(max=1 - eps)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        logit = value.log() - (-value).log1p()
        difference = self.logits - logit * self.temperature
        temperature = self.temperature
        log_temperature = (
            math.log(temperature) if isinstance(temperature, int | float) else temperature.log()
        )
        inner = log_temperature + difference - 2 * ops.softplus(difference)
        return inner - value.log() - (-value).log1p()


class RelaxedOneHotCategorical(Distribution):
    """Vectors on a simplex, near to its corners for small temperatures (Concrete)."""

    arg_constraints: ClassVar[Any] = Categorical.arg_constraints
    support: Any = constraints.simplex
    has_rsample = True

    def __init__(
        self,
        temperature: Values,
        probs: Values = None,
        logits: Values = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._categorical = Categorical(probs, logits, validate_args)
        count = self._categorical._num_events
        super().__init__(self._categorical.batch_shape, (count,), validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        base = self._categorical.expand(batch_shape)
        return RelaxedOneHotCategorical(self.temperature, logits=base.logits, validate_args=False)

    @property
    def logits(self) -> Any:
        """Return the logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Any:
        """Return the probabilities."""
        return self._categorical.probs

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        logits = self.logits.expand(self._extended_shape(sample_shape))
        zeros = constant_like(logits, 0)
        eps = float(np.finfo(logits.dtype).eps)
        drawn = Uniform(zeros, zeros + 1).rsample().clamp(min=eps, max=1 - eps)
        return ((logits - (-drawn.log()).log()) / self.temperature).softmax(-1)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        count = self._event_shape[0]
        temperature = constant_like(self.logits[..., 0], 1) * self.temperature
        scale = math.lgamma(count) - temperature.log() * -(count - 1)
        score = self.logits - value.log() * self.temperature
        score = (score - score.logsumexp(-1, keepdim=True)).sum(-1)
        return score + scale - value.log().sum(-1)

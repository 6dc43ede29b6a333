"""Relaxed categories: continuous numbers near to 0 and 1, through which gradients flow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..dispatch.registry import ops
from . import constraints
from .continuous import Uniform
from .discrete import Bernoulli, OfCategories, Trials
from .distribution import Values, constant_like
from .scalar_transforms import ExpTransform, SigmoidTransform
from .transformed import TransformedDistribution


class LogitRelaxedBernoulli(Trials):
    """Log odds of `RelaxedBernoulli`, which are logistic."""

    arg_constraints: ClassVar[Any] = Bernoulli.arg_constraints
    support: Any = constraints.real
    has_rsample = True

    def __init__(
        self,
        temperature: Values,
        probs: Values = None,
        logits: Values = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        super().__init__(self._set(probs, logits), validate_args=validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        uniform = Uniform(constant_like(self.logits, 0), constant_like(self.logits, 1))
        eps = float(np.finfo(self.logits.dtype).eps)
        drawn = uniform.rsample(sample_shape).clamp(min=eps, max=1 - eps)
        noise = drawn.log() - (-drawn).log1p()
        return (noise + self.logits) / self.temperature

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        difference = self.logits - value * self.temperature
        temperature = self.temperature
        log_temperature = (
            math.log(temperature) if isinstance(temperature, int | float) else temperature.log()
        )
        return log_temperature + difference - 2 * ops.softplus(difference)


class _Image(TransformedDistribution):
    """Base of the images of relaxed numbers and categories, whose parameters are those of these."""

    base_dist: Any

    @property
    def temperature(self) -> Any:
        """Return the temperature."""
        return self.base_dist.temperature

    @property
    def probs(self) -> Any:
        """Return the probabilities."""
        return self.base_dist.probs

    @property
    def logits(self) -> Any:
        """Return the log odds, or logarithms of the probabilities."""
        return self.base_dist.logits


class RelaxedBernoulli(_Image):
    """Numbers between 0 and 1, near to the ends for small temperatures (binary Concrete)."""

    arg_constraints: ClassVar[Any] = LogitRelaxedBernoulli.arg_constraints
    support: Any = constraints.unit_interval

    def __init__(
        self,
        temperature: Values,
        probs: Values = None,
        logits: Values = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args)


class ExpRelaxedCategorical(OfCategories):
    """Logarithms of `RelaxedOneHotCategorical`."""

    support: Any = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        temperature: Values,
        probs: Values = None,
        logits: Values = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        logits = self.logits.expand(self._extended_shape(sample_shape))
        zeros = constant_like(logits, 0)
        eps = float(np.finfo(logits.dtype).eps)
        drawn = Uniform(zeros, zeros + 1).rsample().clamp(min=eps, max=1 - eps)
        scores = (logits - (-drawn.log()).log()) / self.temperature
        return scores - scores.logsumexp(-1, keepdim=True)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        count = self._event_shape[0]
        temperature = constant_like(self.logits[..., 0], 1) * self.temperature
        scale = math.lgamma(count) - temperature.log() * -(count - 1)
        score = self.logits - value * self.temperature
        return (score - score.logsumexp(-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(_Image):
    """Vectors on a simplex, near to its corners for small temperatures (Concrete)."""

    arg_constraints: ClassVar[Any] = ExpRelaxedCategorical.arg_constraints
    support: Any = constraints.simplex

    def __init__(
        self,
        temperature: Values,
        probs: Values = None,
        logits: Values = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args)

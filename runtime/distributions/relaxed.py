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


class _Relaxed(Trials):
    """Base of relaxed trials, whose log odds are logistic."""

    arg_constraints: ClassVar[Any] = Bernoulli.arg_constraints
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

    def _draw_logit(self, sample_shape: Sequence[int]) -> Any:
        uniform = Uniform(constant_like(self.logits, 0), constant_like(self.logits, 1))
        eps = float(np.finfo(self.logits.dtype).eps)
        drawn = uniform.rsample(sample_shape).clamp(min=eps, max=1 - eps)
        noise = drawn.log() - (-drawn).log1p()
        return (noise + self.logits) / self.temperature

    def _log_prob_of_logit(self, logit: Any) -> Any:
        difference = self.logits - logit * self.temperature
        temperature = self.temperature
        log_temperature = (
            math.log(temperature) if isinstance(temperature, int | float) else temperature.log()
        )
        return log_temperature + difference - 2 * ops.softplus(difference)


class LogitRelaxedBernoulli(_Relaxed):
    """Log odds of `RelaxedBernoulli`."""

    support: Any = constraints.real

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        return self._draw_logit(sample_shape)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        return self._log_prob_of_logit(value)


class RelaxedBernoulli(_Relaxed):
    """Numbers between 0 and 1, near to the ends for small temperatures (binary Concrete)."""

    support: Any = constraints.unit_interval

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        eps = float(np.finfo(self.logits.dtype).eps)
        return self._draw_logit(sample_shape).sigmoid().clamp(max=1 - eps)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        info = np.finfo(value.dtype)
        value = value.clamp(min=float(info.tiny), max=1 - float(info.eps))
        inner = self._log_prob_of_logit(value.log() - (-value).log1p())
        return inner - value.log() - (-value).log1p()


class _RelaxedCategories(OfCategories):
    """Base of relaxed categories."""

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

    def _draw_scores(self, sample_shape: Sequence[int]) -> Any:
        logits = self.logits.expand(self._extended_shape(sample_shape))
        zeros = constant_like(logits, 0)
        eps = float(np.finfo(logits.dtype).eps)
        drawn = Uniform(zeros, zeros + 1).rsample().clamp(min=eps, max=1 - eps)
        return (logits - (-drawn.log()).log()) / self.temperature

    def _log_prob_of_log(self, log: Any) -> Any:
        count = self._event_shape[0]
        temperature = constant_like(self.logits[..., 0], 1) * self.temperature
        scale = math.lgamma(count) - temperature.log() * -(count - 1)
        score = self.logits - log * self.temperature
        return (score - score.logsumexp(-1, keepdim=True)).sum(-1) + scale


class ExpRelaxedCategorical(_RelaxedCategories):
    """Logarithms of `RelaxedOneHotCategorical`."""

    support: Any = constraints.real_vector

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        scores = self._draw_scores(sample_shape)
        return scores - scores.logsumexp(-1, keepdim=True)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        return self._log_prob_of_log(value)


class RelaxedOneHotCategorical(_RelaxedCategories):
    """Vectors on a simplex, near to its corners for small temperatures (Concrete)."""

    support: Any = constraints.simplex

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        return self._draw_scores(sample_shape).softmax(-1)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        return self._log_prob_of_log(value.log()) - value.log().sum(-1)

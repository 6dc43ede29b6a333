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


class RelaxedBernoulli(Trials):
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
        super().__init__(self._set(probs, logits), validate_args=validate_args)

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
        info = np.finfo(value.dtype)
        value = value.clamp(min=float(info.tiny), max=1 - float(info.eps))
        logit = value.log() - (-value).log1p()
        difference = self.logits - logit * self.temperature
        temperature = self.temperature
        log_temperature = (
            math.log(temperature) if isinstance(temperature, int | float) else temperature.log()
        )
        inner = log_temperature + difference - 2 * ops.softplus(difference)
        return inner - value.log() - (-value).log1p()


class RelaxedOneHotCategorical(OfCategories):
    """Vectors on a simplex, near to its corners for small temperatures (Concrete)."""

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
        super().__init__(probs, logits, validate_args)

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

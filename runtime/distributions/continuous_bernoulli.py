"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..dispatch.registry import ops
from ..random import rand
from . import constraints
from .discrete import Trials, clamped, log_likelihood
from .distribution import Values, batch_of, constant_like
from .exponential_family import ExponentialFamily
from .validity import holds


class ContinuousBernoulli(Trials, ExponentialFamily):
    """Numbers between 0 and 1 of density proportional to `probs**x * (1 - probs)**(1 - x)`.

    Within `lims`, where the normalising constant cancels, its Taylor series takes its place.
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support: Any = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0.0
    probs: Any
    logits: Any

    def __init__(
        self,
        probs: Values = None,
        logits: Values = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        shape = self._set(probs, logits)
        if probs is not None:
            if validate_args is not False and not holds((self.probs >= 0) & (self.probs <= 1)):
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamped(self.probs)
            shape = tuple(batch_of(self.probs, probs))
        else:
            self.probs = clamped(self.logits.sigmoid())
        self._lims = lims
        super().__init__(shape, validate_args=validate_args)

    def _outside(self) -> Any:
        """Return where the probability is outside of the limits."""
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut(self) -> Any:
        """Return the probabilities, with the lower limit for those between the limits."""
        return ops.where(self._outside(), self.probs, constant_like(self.probs, self._lims[0]))

    def _log_constant(self) -> Any:
        """Return the logarithm of the normalising constant."""
        cut = self._cut()
        half = constant_like(cut, 0.0), constant_like(cut, 1.0)
        below = ops.where(cut <= 0.5, cut, half[0])
        above = ops.where(cut >= 0.5, cut, half[1])
        size = ((-cut).log1p() - cut.log()).abs().log()
        scale = ops.where(cut <= 0.5, (-2 * below).log1p(), (2 * above - 1).log())
        x = (self.probs - 0.5) ** 2
        series = math.log(2) + (4 / 3 + 104 / 45 * x) * x
        return ops.where(self._outside(), size - scale, series)

    @property
    def mean(self) -> Any:
        """Return the mean."""
        cut, x = self._cut(), self.probs - 0.5
        mean = cut / (2 * cut - 1) + 1 / ((-cut).log1p() - cut.log())
        return ops.where(self._outside(), mean, 0.5 + (1 / 3 + 16 / 45 * x**2) * x)

    @property
    def variance(self) -> Any:
        """Return the variance."""
        cut, x = self._cut(), (self.probs - 0.5) ** 2
        found = cut * (cut - 1) / (1 - 2 * cut) ** 2 + 1 / ((-cut).log1p() - cut.log()) ** 2
        return ops.where(self._outside(), found, 1 / 12 - (1 / 15 - 128 / 945 * x) * x)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        return log_likelihood(value, self.logits) + self._log_constant()

    def cdf(self, value: Values) -> Any:
        """Compute the probability of what is not above `value`."""
        self._validate_sample(value)
        cut = self._cut()
        found = (cut**value * (1 - cut) ** (1 - value) + cut - 1) / (2 * cut - 1)
        found = ops.where(self._outside(), found, value)
        return ops.where(value >= 1, 1.0, ops.where(value <= 0, 0.0, found))

    def icdf(self, value: Values) -> Any:
        """Compute the value of which the `cdf` is given."""
        cut = self._cut()
        over = (-cut + value * (2 * cut - 1)).log1p() - (-cut).log1p()
        return ops.where(self._outside(), over / (cut.log() - (-cut).log1p()), value)

    def entropy(self) -> Any:
        """Compute the entropy."""
        log_rest = (-self.probs).log1p()
        return self.mean * (log_rest - self.probs.log()) - self._log_constant() - log_rest

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        """Compute `log((exp(x) - 1) / x)`; its Taylor series where that would be 0 / 0."""
        low, high = (lim - 0.5 for lim in self._lims)
        outside = (x <= low) | (x > high)
        cut = ops.where(outside, x, constant_like(x, low))
        series = x / 2 + x**2 / 24 - x**4 / 2880
        return ops.where(outside, (cut.expm1() / cut).log(), series)

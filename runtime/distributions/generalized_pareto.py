"""The generalized Pareto distribution of what exceeds a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..dispatch.registry import ops
from ..random import rand
from . import constraints
from .distribution import Distribution, Values, batch_of, broadcast_all


class GeneralizedPareto(Distribution):
    """Generalized Pareto distribution of numbers from `loc`, with the shape `concentration`.

    Of a concentration of zero it is exponential, of a negative one it is bounded.
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(
        self, loc: Values, scale: Values, concentration: Values, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(batch_of(self.loc, loc, scale, concentration), (), validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """Return the interval from `loc`, infinite unless the concentration is negative."""
        k = self.concentration
        end = self.loc - self.scale / ops.where(k < 0, k, -1.0)
        return constraints.interval(self.loc, ops.where(k < 0, end, float("inf")))

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        return self._expanded(batch_shape, ("loc", "scale", "concentration"))

    @property
    def mean(self) -> Any:
        """Return the mean; nan where the concentration is at least 1."""
        k = self.concentration
        mean = self.loc + self.scale / (1 - ops.where(k < 1, k, 0.5))
        return ops.where(k < 1, mean, float("nan"))

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return self.loc

    @property
    def variance(self) -> Any:
        """Return the variance; nan where the concentration is at least 1/2."""
        k = self.concentration
        inside = ops.where(k < 0.5, k, 0.25)
        variance = self.scale**2 / ((1 - inside) ** 2 * (1 - 2 * inside))
        return ops.where(k < 0.5, variance, float("nan"))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        z, is_zero, k = self._parts(value)
        power = 1 / k + 1
        bent = ops.where(power == 0, 0.0, power * (k * z).log1p())
        return -ops.where(is_zero, z, bent) - self.scale.log()

    def log_survival_function(self, value: Values) -> Any:
        """Compute the logarithm of the probability of what is above `value`."""
        self._validate_sample(value)
        z, is_zero, k = self._parts(value)
        return -ops.where(is_zero, z, (k * z).log1p() / k)

    def log_cdf(self, value: Values) -> Any:
        """Compute the logarithm of the `cdf`."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Values) -> Any:
        """Compute the probability of what is not above `value`."""
        return -self.log_survival_function(value).expm1()

    def icdf(self, value: Values) -> Any:
        """Compute the value of which the `cdf` is given."""
        z, is_zero, k = -(-value).log1p(), *self._bend()
        return self.loc + self.scale * ops.where(is_zero, z, (k * z).expm1() / k)

    def entropy(self) -> Any:
        """Compute the entropy."""
        return self.scale.log() + self.concentration + 1

    def _parts(self, value: Any) -> tuple[Any, Any, Any]:
        """Return the standardized value, and what `_bend` returns."""
        return (value - self.loc) / self.scale, *self._bend()

    def _bend(self) -> tuple[Any, Any]:
        """Return where the concentration counts as zero, and the concentration, there 1."""
        is_zero = self.concentration.abs() <= NEGLIGIBLE
        return is_zero, ops.where(is_zero, 1.0, self.concentration)


NEGLIGIBLE = 1e-8
"""Concentrations up to here are computed as zero, as PyTorch does."""

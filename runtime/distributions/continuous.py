"""Distributions of real numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..core.random_generator import generator
from ..dispatch.registry import ops
from ..random import rand, randn
from . import constraints
from .distribution import Distribution, Values, batch_of, broadcast_all, constant_like, kept
from .draws import drawn
from .exponential_family import ExponentialFamily
from .factors import factor_of, from_factor, given_matrix


class _LocationScale(Distribution):
    """Base of distributions with the parameters `loc` and `scale`."""

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real
    has_rsample = True

    def __init__(self, loc: Values, scale: Values, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(batch_of(self.loc, loc, scale), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        return self._expanded(batch_shape, ("loc", "scale"))

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self.loc

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return self.loc

    def _standardized(self, value: Any) -> Any:
        self._validate_sample(value)
        return (value - self.loc) / self.scale

    def _uniform(self, sample_shape: Sequence[int]) -> Any:
        """Draw numbers above 0 and below 1."""
        dtype = self.loc.dtype
        drawn: Any = rand(self._extended_shape(sample_shape), dtype=dtype)
        return drawn.clamp(min=np.finfo(dtype).tiny)


class Normal(_LocationScale, ExponentialFamily):
    """Normal distribution of mean `loc` and standard deviation `scale`."""

    _mean_carrier_measure = 0.0

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.loc / self.scale**2, -0.5 / self.scale**2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return -0.25 * x**2 / y + 0.5 * (-math.pi / y).log()

    @property
    def stddev(self) -> Any:
        """Return the standard deviation."""
        return self.scale

    @property
    def variance(self) -> Any:
        """Return the variance."""
        return self.scale**2

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        drawn = randn(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + drawn * self.scale

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        z = self._standardized(value)
        return -(z**2) / 2 - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Values) -> Any:
        """Compute the probability of what is not above `value`."""
        return 0.5 * (1 + ops.erf(self._standardized(value) / math.sqrt(2)))

    def icdf(self, value: Values) -> Any:
        """Compute the value of which the `cdf` is given."""
        return self.loc + self.scale * ops.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        """Compute the entropy."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class Laplace(_LocationScale):
    """Laplace distribution around `loc`, of mean absolute deviation `scale`."""

    @property
    def variance(self) -> Any:
        """Return the variance."""
        return 2 * self.scale**2

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        u = self._uniform(sample_shape) * 2 - 1
        tiny = float(np.finfo(self.loc.dtype).tiny)
        return self.loc - self.scale * u.sign() * (-u.abs()).clamp(min=-1 + tiny).log1p()

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        return -(2 * self.scale).log() - self._standardized(value).abs()

    def cdf(self, value: Values) -> Any:
        """Compute the probability of what is not above `value`."""
        z = self._standardized(value)
        return 0.5 - 0.5 * z.sign() * (-z.abs()).expm1()

    def icdf(self, value: Values) -> Any:
        """Compute the value of which the `cdf` is given."""
        term = value - 0.5
        return self.loc - self.scale * term.sign() * (-2 * term.abs()).log1p()

    def entropy(self) -> Any:
        """Compute the entropy."""
        return 1 + (2 * self.scale).log()


class Cauchy(_LocationScale):
    """Cauchy distribution around `loc`, of half width `scale` at half its height."""

    @property
    def mean(self) -> Any:
        """Return NaN: there is none."""
        return constant_like(self.loc, math.nan)

    @property
    def variance(self) -> Any:
        """Return infinity."""
        return constant_like(self.loc, math.inf)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        shape = self._extended_shape(sample_shape)
        standard = drawn(lambda: generator().standard_cauchy(shape), self.loc.dtype)
        return self.loc + standard * self.scale

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        return -math.log(math.pi) - self.scale.log() - (self._standardized(value) ** 2).log1p()

    def cdf(self, value: Values) -> Any:
        """Compute the probability of what is not above `value`."""
        return self._standardized(value).atan() / math.pi + 0.5

    def icdf(self, value: Values) -> Any:
        """Compute the value of which the `cdf` is given."""
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Any:
        """Compute the entropy."""
        return math.log(4 * math.pi) + self.scale.log()


class Uniform(Distribution):
    """Uniform distribution from `low` to `high`."""

    has_rsample = True

    def __init__(self, low: Values, high: Values, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(batch_of(self.low, low, high), validate_args=validate_args)

    @property
    def arg_constraints(self) -> Any:
        """Return the constraints of the bounds, each by the other."""
        return {
            "low": constraints.less_than(self.high),
            "high": constraints.greater_than(self.low),
        }

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """Return the interval."""
        return constraints.interval(self.low, self.high)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        return self._expanded(batch_shape, ("low", "high"))

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        """Return NaN: there is none."""
        return self.high * math.nan

    @property
    def variance(self) -> Any:
        """Return the variance."""
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        drawn = rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        is_inside = ((value >= self.low) & (value < self.high)).to(self.low.dtype)
        return is_inside.log() - (self.high - self.low).log()

    def cdf(self, value: Values) -> Any:
        """Compute the probability of what is not above `value`."""
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Values) -> Any:
        """Compute the value of which the `cdf` is given."""
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        """Compute the entropy."""
        return (self.high - self.low).log()


class Exponential(ExponentialFamily):
    """Exponential distribution of mean `1 / rate`."""

    arg_constraints: ClassVar[Any] = {"rate": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Values, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_of(self.rate, rate), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        return self._expanded(batch_shape, ("rate",))

    _mean_carrier_measure = 0.0

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Any) -> Any:
        return -(-x).log()

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self.rate.reciprocal()

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return constant_like(self.rate, 0)

    @property
    def stddev(self) -> Any:
        """Return the standard deviation."""
        return self.rate.reciprocal()

    @property
    def variance(self) -> Any:
        """Return the variance."""
        return self.rate**-2

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        shape = self._extended_shape(sample_shape)
        return drawn(lambda: generator().standard_exponential(shape), self.rate.dtype) / self.rate

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Values) -> Any:
        """Compute the probability of what is not above `value`."""
        self._validate_sample(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Values) -> Any:
        """Compute the value of which the `cdf` is given."""
        return -(-value).log1p() / self.rate

    def entropy(self) -> Any:
        """Compute the entropy."""
        return 1 - self.rate.log()


class MultivariateNormal(Distribution):
    """Normal distribution of vectors, by its covariance, its inverse, or a Cholesky factor."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support: Any = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = given_matrix(covariance_matrix, precision_matrix, scale_tril)
        batch = np.broadcast_shapes(tuple(matrix.shape[:-2]), tuple(loc.shape[:-1]))
        matrix = matrix.expand((*batch, *matrix.shape[-2:]))
        setattr(self, name, matrix)
        self.loc = loc.expand((*batch, loc.shape[-1]))
        super().__init__(batch, self.loc.shape[-1:], validate_args)
        self._factor = factor_of(name, matrix)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        names = [n for n in ("loc", "_factor", *list(self.arg_constraints)[1:]) if n in vars(self)]
        return self._expanded(batch_shape, names)

    def __getattr__(self, name: str) -> Any:
        """Compute the matrices that were not given, and keep them."""
        if "_factor" in vars(self):
            return kept(
                self, name, lambda self: from_factor(type(self).__name__, self._factor, name)
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self.loc

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return self.loc

    @property
    def variance(self) -> Any:
        """Return the variances of the components."""
        return (self._factor**2).sum(-1)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        drawn = randn(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + (self._factor @ drawn[..., None])[..., 0]

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        difference = (value - self.loc)[..., None]
        z = ops.linalg_solve_triangular(self._factor, difference, upper=False)[..., 0]
        size = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (size + (z**2).sum(-1)) - self._half_log_det()

    def _half_log_det(self) -> Any:
        return self._factor.diagonal(0, -2, -1).log().sum(-1)

    def entropy(self) -> Any:
        """Compute the entropy."""
        constant = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi))
        entropy = constant + self._half_log_det()
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy


__all__ = [
    "Cauchy",
    "Exponential",
    "Laplace",
    "MultivariateNormal",
    "Normal",
    "Uniform",
]

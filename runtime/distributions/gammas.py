"""Distributions that are sampled by gamma variates.

A gamma variate is a quantile at a uniform number, so gradients flow through samples to the shapes.
Shares are computed from logarithms: variates of small shapes are below all positive floats.
Those of `Dirichlet` and `Beta` flow through each of the variates whose shares they are; PyTorch's
are those of each share's own quantile, which is another estimate of the same derivative of means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..core.tensor import wrap
from ..dispatch.registry import ops
from ..random import _standard_gamma, rand, randn
from . import constraints
from .distribution import Distribution, Values, as_tensor, batch_of, broadcast_all
from .exponential_family import ExponentialFamily


def _positive(drawn: Any) -> Any:
    """Raise numbers that became zero to the smallest one."""
    return drawn.clamp(min=float(np.finfo(drawn.dtype).tiny))


def _log_standard_gamma(shapes: Any) -> Any:
    """Draw logarithms of gamma variates: those of a shape more, times `uniform ** (1 / shape)`."""
    dtype = shapes.dtype
    uniform = rand(shapes.shape, dtype=dtype).clamp(min=float(np.finfo(dtype).tiny))
    return _standard_gamma(shapes + 1).log() + uniform.log() / shapes


class Gamma(ExponentialFamily):
    """Gamma distribution of a concentration (shape) and a rate (inverse scale)."""

    arg_constraints: ClassVar[Any] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support: Any = constraints.nonnegative
    has_rsample = True

    def __init__(
        self, concentration: Values, rate: Values, validate_args: bool | None = None
    ) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        shape = batch_of(self.rate, concentration, rate)
        super().__init__(shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        return self._expanded(batch_shape, ("concentration", "rate"))

    _mean_carrier_measure = 0.0

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return ops.lgamma(x + 1) - (x + 1) * (-y).log()

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        """Return the variance."""
        return self.concentration / self.rate**2

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        shapes = self.concentration.expand(self._extended_shape(sample_shape))
        return _positive(_standard_gamma(shapes) / self.rate)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density; a number will do for the value."""
        value = as_tensor(value, self.rate.dtype)
        self._validate_sample(value)
        a, b = self.concentration, self.rate
        return ops.xlogy(a, b) + ops.xlogy(a - 1, value) - b * value - ops.lgamma(a)

    def cdf(self, value: Values) -> Any:
        """Compute the probability of what is not above `value`."""
        self._validate_sample(value)
        return ops.igamma(self.concentration, self.rate * value)

    def entropy(self) -> Any:
        """Compute the entropy."""
        a = self.concentration
        return a - self.rate.log() + ops.lgamma(a) + (1 - a) * ops.digamma(a)


class Dirichlet(ExponentialFamily):
    """Dirichlet distribution of vectors that sum to 1."""

    arg_constraints: ClassVar[Any] = {
        "concentration": constraints.independent(constraints.positive, 1),
    }
    support: Any = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        return self._expanded(batch_shape, ("concentration",))

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:
        return ops.lgamma(x).sum(-1) - ops.lgamma(x.sum(-1))

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self) -> Any:
        """Return the mode; the first of all corners, where all concentrations are below 1."""
        above = (self.concentration - 1).clamp(min=0)
        mode = above / above.sum(-1, keepdim=True)
        corner = wrap(np.eye(1, self._event_shape[0], dtype=mode.dtype)[0])
        return ops.where((self.concentration < 1).all(-1)[..., None], corner, mode)

    @property
    def variance(self) -> Any:
        """Return the variances of the components."""
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total**2 * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        shapes = self.concentration.expand(self._extended_shape(sample_shape))
        info = np.finfo(shapes.dtype)
        shares = _log_standard_gamma(shapes).softmax(-1)
        return shares.clamp(min=float(info.tiny), max=1 - float(info.epsneg))

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        a = self.concentration
        return ops.xlogy(a - 1, value).sum(-1) + ops.lgamma(a.sum(-1)) - ops.lgamma(a).sum(-1)

    def entropy(self) -> Any:
        """Compute the entropy."""
        a, total, count = self.concentration, self.concentration.sum(-1), self._event_shape[0]
        return (
            ops.lgamma(a).sum(-1)
            - ops.lgamma(total)
            - (count - total) * ops.digamma(total)
            - ((a - 1) * ops.digamma(a)).sum(-1)
        )


class Beta(ExponentialFamily):
    """Beta distribution of numbers between 0 and 1."""

    arg_constraints: ClassVar[Any] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support: Any = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, concentration1: Values, concentration0: Values, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        shape = batch_of(self.concentration1, concentration1, concentration0)
        super().__init__(shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        return self._expanded(batch_shape, ("concentration1", "concentration0"))

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return ops.lgamma(x) + ops.lgamma(y) - ops.lgamma(x + y)

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Any:
        """Return the mode; 1, where both concentrations are below 1."""
        both = ops.stack([self.concentration1, self.concentration0], -1)
        return Dirichlet(both, validate_args=False).mode[..., 0]

    @property
    def variance(self) -> Any:
        """Return the variance."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total**2 * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        both = ops.stack([self.concentration1, self.concentration0], -1)
        return Dirichlet(both, validate_args=False).rsample(sample_shape)[..., 0]

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        a, b = self.concentration1, self.concentration0
        return (
            ops.xlogy(a - 1, value)
            + ops.xlogy(b - 1, 1 - value)
            + ops.lgamma(a + b)
            - ops.lgamma(a)
            - ops.lgamma(b)
        )

    def entropy(self) -> Any:
        """Compute the entropy."""
        a, b = self.concentration1, self.concentration0
        total = a + b
        return (
            ops.lgamma(a)
            + ops.lgamma(b)
            - ops.lgamma(total)
            - (2 - total) * ops.digamma(total)
            - (a - 1) * ops.digamma(a)
            - (b - 1) * ops.digamma(b)
        )


class StudentT(Distribution):
    """Student's t distribution of `df` degrees of freedom, around `loc`."""

    arg_constraints: ClassVar[Any] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support: Any = constraints.real
    has_rsample = True

    def __init__(
        self,
        df: Values,
        loc: Values = 0.0,
        scale: Values = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        return self._expanded(batch_shape, ("df", "loc", "scale"))

    @property
    def mean(self) -> Any:
        """Return the mean; NaN where there is none."""
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return self.loc

    @property
    def variance(self) -> Any:
        """Return the variance; infinite or NaN where there is none."""
        finite = self.scale**2 * self.df / (self.df - 2)
        infinite = finite.masked_fill(self.df <= 2, math.inf)
        return infinite.masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        shape = self._extended_shape(sample_shape)
        normal = randn(shape, dtype=self.loc.dtype)
        square = Chi2(self.df, validate_args=False).rsample(sample_shape) / self.df
        return self.loc + self.scale * normal * square.rsqrt()

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        normalizer = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + ops.lgamma(0.5 * self.df)
            - ops.lgamma(0.5 * (self.df + 1))
        )
        return -0.5 * (self.df + 1) * (z**2 / self.df).log1p() - normalizer

    def entropy(self) -> Any:
        """Compute the entropy."""
        half, above = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = ops.lgamma(half) + math.log(math.sqrt(math.pi)) - ops.lgamma(above)
        return (
            self.scale.log()
            + above * (ops.digamma(above) - ops.digamma(half))
            + 0.5 * self.df.log()
            + log_beta
        )


class Chi2(Gamma):
    """Chi-squared distribution of `df` degrees of freedom."""

    arg_constraints: ClassVar[Any] = {"df": constraints.positive}

    def __init__(self, df: Values, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args)

    @property
    def df(self) -> Any:
        """Return the degrees of freedom."""
        return self.concentration * 2


class FisherSnedecor(Distribution):
    """Distribution of the ratio of two chi-squared numbers, each divided by its `df`."""

    arg_constraints: ClassVar[Any] = {
        "df1": constraints.positive,
        "df2": constraints.positive,
    }
    support: Any = constraints.positive
    has_rsample = True

    def __init__(self, df1: Values, df2: Values, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(batch_of(self.df1, df1, df2), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        return self._expanded(batch_shape, ("df1", "df2"))

    @property
    def mean(self) -> Any:
        """Return the mean; NaN where there is none."""
        df2 = self.df2.masked_fill(self.df2 <= 2, math.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Any:
        """Return the mode; NaN where there is none."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Any:
        """Return the variance; NaN where there is none."""
        df1, df2 = self.df1, self.df2.masked_fill(self.df2 <= 4, math.nan)
        return 2 * df2**2 * (df1 + df2 - 2) / (df1 * (df2 - 2) ** 2 * (df2 - 4))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        over, under = (
            Gamma(0.5 * df, 0.5 * df, validate_args=False).rsample(sample_shape)
            for df in (self.df1, self.df2)
        )
        return _positive(over / under)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        half1, half2, ratio = 0.5 * self.df1, 0.5 * self.df2, self.df1 / self.df2
        normalizer = ops.lgamma(half1 + half2) - ops.lgamma(half1) - ops.lgamma(half2)
        power = half1 * ratio.log() + (half1 - 1) * value.log()
        return normalizer + power - (half1 + half2) * (ratio * value).log1p()

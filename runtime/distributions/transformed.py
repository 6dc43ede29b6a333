"""Distributions made of others: independent ones as one, and images under transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from ..core.modes import no_grad
from . import constraints
from .continuous import Normal
from .distribution import Distribution, Values
from .scalar_transforms import ComposeTransform, ExpTransform, Transform, sum_rightmost


class Independent(Distribution):
    """Distribution whose last batch dimensions are dimensions of one event."""

    arg_constraints: ClassVar[Any] = MappingProxyType({})

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        shape = base_distribution.batch_shape
        count = reinterpreted_batch_ndims
        if count > len(shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{count} vs {len(shape)}"
            )
        split = len(shape) - count
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = count
        event = (*shape[split:], *base_distribution.event_shape)
        super().__init__(shape[:split], event, validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Return whether gradients flow through samples."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """Return whether the values can be listed: of one number, not of several together."""
        return not self.reinterpreted_batch_ndims and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        """Return the support of all together."""
        count = self.reinterpreted_batch_ndims
        support = self.base_dist.support
        return constraints.independent(support, count) if count else support

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        inside = self._event_shape[: self.reinterpreted_batch_ndims]
        new = self._expanded(batch_shape, ())
        new.base_dist = self.base_dist.expand((*batch_shape, *inside))
        return new

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        """Return the variance."""
        return self.base_dist.variance

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density of each event."""
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        """Compute the entropy."""
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        """List all values; NotImplementedError where events are made of several numbers."""
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """Image of a distribution under transforms, one after the other."""

    arg_constraints: ClassVar[Any] = MappingProxyType({})

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | Sequence[Transform],
        validate_args: bool | None = None,
    ) -> None:
        given: list[Any] = transforms if isinstance(transforms, list) else [transforms]
        if not all(isinstance(transform, Transform) for transform in given):
            raise ValueError(
                f"transforms must be a Transform or a list of Transforms, but was {transforms}"
            )
        self.transforms: list[Transform] = given
        self.base_dist = base_distribution
        whole = ComposeTransform(given)
        inside, outside = whole.domain.event_dim, whole.codomain.event_dim
        base = base_distribution
        shape = (*base.batch_shape, *base.event_shape)
        if len(shape) < inside:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {inside}, but got "
                f"{shape}."
            )
        image = whole.forward_shape(shape)
        needed = whole.inverse_shape(image)
        if tuple(needed) != shape:
            base = base.expand(needed[: len(needed) - len(base.event_shape)])
        if inside > len(base.event_shape):
            base = Independent(base, inside - len(base.event_shape))
        self.base_dist = base
        split = len(image) - outside - max(len(base.event_shape) - inside, 0)
        super().__init__(image[:split], image[split:], validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Return whether gradients flow through samples."""
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        """Return the image of the last transform."""
        if not self.transforms:
            return self.base_dist.support
        codomain = self.transforms[-1].codomain
        more = len(self._event_shape) - codomain.event_dim
        return constraints.independent(codomain, more) if more else codomain

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        new = self._expanded(batch_shape, ())
        whole = ComposeTransform(self.transforms)
        shape = whole.inverse_shape((*batch_shape, *self._event_shape))
        base = self.base_dist
        new.base_dist = base.expand(shape[: len(shape) - len(base.event_shape)])
        return new

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples."""
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        return self._transformed(self.base_dist.rsample(sample_shape))

    def _transformed(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        total: Any = 0.0
        count = len(self._event_shape)
        for transform in reversed(self.transforms):
            before = transform._inv_call(value)
            change = transform.log_abs_det_jacobian(before, value)
            count += transform.domain.event_dim - transform.codomain.event_dim
            total = total - sum_rightmost(change, count - transform.domain.event_dim)
            value = before
        density = self.base_dist.log_prob(value)
        return total + sum_rightmost(density, count - len(self.base_dist.event_shape))

    def cdf(self, value: Values) -> Any:
        """Compute the probability of what is not above `value`, checked where it came from."""
        for transform in reversed(self.transforms):
            value = transform._inv_call(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value: Values) -> Any:
        """Compute the value of which the `cdf` is given."""
        return self._transformed(self.base_dist.icdf(self._turned(value)))

    def _turned(self, value: Any) -> Any:
        """Turn a probability round where the transforms are decreasing."""
        sign = math.prod(transform.sign for transform in self.transforms)
        return sign * (value - 0.5) + 0.5


class LogNormal(TransformedDistribution):
    """Distribution of numbers whose logarithms are normal."""

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.positive

    def __init__(self, loc: Values, scale: Values, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args)

    @property
    def loc(self) -> Any:
        """Return the mean of the logarithms."""
        return self.base_dist.loc  # type: ignore[attr-defined]

    @property
    def scale(self) -> Any:
        """Return the standard deviation of the logarithms."""
        return self.base_dist.scale  # type: ignore[attr-defined]

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return (self.loc + self.scale**2 / 2).exp()

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return (self.loc - self.scale**2).exp()

    @property
    def variance(self) -> Any:
        """Return the variance."""
        square = self.scale**2
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Any:
        """Compute the entropy."""
        return self.base_dist.entropy() + self.loc

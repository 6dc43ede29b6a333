"""Mixtures of distributions of one class."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from ..core.modes import no_grad
from . import constraints
from .discrete import Categorical
from .distribution import Distribution, Values


class MixtureSameFamily(Distribution):
    """Mixture of the last batch dimension of a distribution, weighed by a `Categorical`.

    The batch shapes of the two broadcast.
    """

    arg_constraints: ClassVar[Any] = MappingProxyType({})

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
        shapes = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        count = mixture_distribution._num_events
        try:
            batch = np.broadcast_shapes(*shapes)
        except ValueError:
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({shapes[0]}) is not compatible with "
                f"`component_distribution.batch_shape` ({shapes[1]})"
            ) from None
        if component_distribution.batch_shape[-1] != count:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                "`component_distribution.batch_shape[-1]` "
                f"({component_distribution.batch_shape[-1]})"
            )
        self.mixture_distribution = mixture_distribution
        self.component_distribution = component_distribution
        if batch != shapes[1]:
            self.component_distribution = component_distribution.expand((*batch, count))
        super().__init__(batch, component_distribution.event_shape, validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        count = self.mixture_distribution._num_events
        new = self._expanded(batch_shape, ())
        new.component_distribution = self.component_distribution.expand((*batch_shape, count))
        new.mixture_distribution = self.mixture_distribution.expand(batch_shape)
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        """Return the values that all components take."""
        return constraints.MixtureSameFamilyConstraint(self.component_distribution.support)

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

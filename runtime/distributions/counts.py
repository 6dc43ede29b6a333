"""Distributions of numbers of trials, and of one-hot vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..core.random_generator import generator
from ..core.tensor import wrap
from ..dispatch.registry import ops
from . import constraints
from .discrete import OfCategories, Trials
from .distribution import Values, broadcast_all
from .draws import drawn
from .validity import holds


class Geometric(Trials):
    """The number of failures before the first success."""

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support: Any = constraints.nonnegative_integer

    def __init__(
        self, probs: Values = None, logits: Values = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(self._set(probs, logits), validate_args=validate_args)
        if self._validate_args and probs is not None and not holds(self.probs > 0):
            raise ValueError("Expected parameter probs of Geometric to be positive")

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return 1 / self.probs - 1

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return self.probs.detach() * 0

    @property
    def variance(self) -> Any:
        """Return the variance."""
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples."""
        shape = self._extended_shape(sample_shape)
        probs = self.probs
        return drawn(lambda probs: generator().geometric(probs, shape) - 1, probs.dtype, probs)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the probability."""
        self._validate_sample(value)
        probs = self.probs
        certain = (probs == 1) & (value == 0)
        others = ops.where(certain, probs * 0, probs)
        return value * (-others).log1p() + probs.log()

    def entropy(self) -> Any:
        """Compute the entropy."""
        probs = self.probs
        return -ops.special_xlog1py(1 - probs, -probs) / probs - probs.log()


class Binomial(Trials):
    """The number of successes in `total_count` trials."""

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    others = ("total_count",)
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Values = 1,
        probs: Values = None,
        logits: Values = None,
        validate_args: bool | None = None,
    ) -> None:
        shape = self._set(probs, logits, total_count=total_count)
        super().__init__(shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """Return the whole numbers up to the number of trials."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Any:
        """Return the variance."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples."""
        shape = self._extended_shape(sample_shape)

        def draw(counts: Any, probs: Any) -> Any:
            return generator().binomial(counts.astype(np.int64), probs, shape)

        return drawn(draw, self.probs.dtype, self.total_count, self.probs)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the probability."""
        self._validate_sample(value)
        count, logits = self.total_count, self.logits
        ways = ops.lgamma(count + 1) - ops.lgamma(value + 1) - ops.lgamma(count - value + 1)
        return value * logits + ways + count * ops.log_sigmoid(-logits)

    def enumerate_support(self, expand: bool = True) -> Any:
        """List the numbers of successes, where the number of trials is the same in the batch."""
        total = int(self.total_count.max())
        if not int(self.total_count.min()) == total:
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `enumerate_support`."
            )
        values = wrap(np.arange(total + 1, dtype=self.total_count.dtype))
        values = values.reshape(-1, *(1 for _ in self._batch_shape))
        return values.expand((total + 1, *self._batch_shape)) if expand else values

    def entropy(self) -> Any:
        """Compute the entropy, by the probabilities of all numbers."""
        values = self.enumerate_support(expand=False)
        found = self.log_prob(values)
        return -(found.exp() * found).sum(0)


class NegativeBinomial(Trials):
    """The number of successes before `total_count` failures."""

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support: Any = constraints.nonnegative_integer
    others = ("total_count",)

    def __init__(
        self,
        total_count: Values,
        probs: Values = None,
        logits: Values = None,
        validate_args: bool | None = None,
    ) -> None:
        shape = self._set(probs, logits, total_count=total_count)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Any:
        """Return the variance."""
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples."""
        shape = self._extended_shape(sample_shape)

        def draw(counts: Any, probs: Any) -> Any:
            return generator().poisson(generator().gamma(counts, probs / (1 - probs), shape))

        return drawn(draw, self.probs.dtype, self.total_count, self.probs)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the probability."""
        self._validate_sample(value)
        count, logits = self.total_count, self.logits
        unnormalised = count * ops.log_sigmoid(-logits) + value * ops.log_sigmoid(logits)
        ways = -ops.lgamma(count + value) + ops.lgamma(1 + value) + ops.lgamma(count)
        ways = ways.masked_fill(count + value == 0, 0.0)
        return unnormalised - ways


class OneHotCategorical(OfCategories):
    """Categories as one-hot vectors."""

    support: Any = constraints.one_hot
    has_enumerate_support = True

    @property
    def mean(self) -> Any:
        """Return the mean: the probabilities."""
        return self.probs

    @property
    def mode(self) -> Any:
        """Return the vector of the likeliest category."""
        return self._one_hot(self.probs.argmax(-1))

    @property
    def variance(self) -> Any:
        """Return the variance of each element."""
        return self.probs * (1 - self.probs)

    def _one_hot(self, index: Any) -> Any:
        categories = wrap(np.arange(self._event_shape[0]))
        return (index[..., None] == categories).to(self.logits.dtype)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples."""
        return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the probability."""
        self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Any:
        """Compute the entropy."""
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        """List the vectors of all categories."""
        count = self._event_shape[0]
        values = wrap(np.eye(count, dtype=self.logits.dtype))
        values = values.reshape(count, *(1 for _ in self._batch_shape), count)
        return values.expand((count, *self._batch_shape, count)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One-hot vectors whose gradient is that of the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which the gradient of the probabilities flows."""
        drawn, probs = self.sample(sample_shape), self.probs
        return drawn + (probs - probs.detach())


class Multinomial(OfCategories):
    """The numbers of times that each category comes in `total_count` trials."""

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        if total_count < 0:
            raise ValueError(f"total_count is a number of trials, but was {total_count}")
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """Return the vectors of whole numbers that sum to the number of trials."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        """Return the variance of each element."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples."""
        shape = self._extended_shape(sample_shape)

        def draw(probs: Any) -> Any:
            wide = np.broadcast_to(probs, shape).astype(np.float64)
            return generator().multinomial(self.total_count, wide / wide.sum(-1, keepdims=True))

        return drawn(draw, self.probs.dtype, self.probs)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the probability."""
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        ways = ops.lgamma(value.sum(-1) + 1) - ops.lgamma(value + 1).sum(-1)
        impossible = (value == 0) & (logits == -np.inf)
        return ways + (logits.masked_fill(impossible, 0) * value).sum(-1)

    def entropy(self) -> Any:
        """Compute the entropy, by the probabilities of all numbers of one category."""
        counts = Binomial(self.total_count, self.probs, validate_args=False)
        numbers = wrap(np.arange(1, self.total_count + 1, dtype=self.probs.dtype))
        numbers = numbers.reshape(-1, *(1 for _ in counts.batch_shape))
        weights = (counts.log_prob(numbers).exp() * ops.lgamma(numbers + 1)).sum((0, -1))
        total = wrap(np.asarray(self.total_count + 1.0, self.probs.dtype))
        return self.total_count * self._categorical.entropy() - ops.lgamma(total) + weights

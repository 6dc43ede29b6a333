"""Distributions of whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..core.random_generator import generator
from ..core.tensor import wrap
from ..dispatch.registry import ops
from . import constraints
from .distribution import Distribution, Values, batch_of, broadcast_all, kept
from .draws import drawn
from .exponential_family import ExponentialFamily


def clamped(probs: Any) -> Any:
    """Keep probabilities off 0 and 1."""
    eps = float(np.finfo(probs.dtype).eps)
    return probs.clamp(min=eps, max=1 - eps)


def log_likelihood(value: Any, logits: Any) -> Any:
    """Compute `value * log(p) + (1 - value) * log(1 - p)`, where the log odds of `p` are given.

    Neither logarithm loses digits, however near to 0 or 1 `p` is.
    """
    return value * ops.log_sigmoid(logits) + (1 - value) * ops.log_sigmoid(-logits)


def _check_one(probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


def _log_odds(distribution: Any) -> Any:
    probs = clamped(distribution.probs)
    return probs.log() - (-probs).log1p()


class Trials(Distribution):
    """Base of distributions of trials with the probability `probs`, or the log odds `logits`."""

    others: ClassVar[tuple[str, ...]] = ()
    """The other parameters."""

    def _set(self, probs: Values, logits: Values, **others: Values) -> tuple[Any, ...]:
        """Set the parameters, broadcast against each other; return the batch shape."""
        _check_one(probs, logits)
        name, given = ("logits", logits) if probs is None else ("probs", probs)
        value, *rest = broadcast_all(given, *others.values())
        vars(self)[name] = value
        for key, other in zip(others, rest, strict=True):
            setattr(self, key, other.to(value.dtype))
        return tuple(batch_of(value, given, *others.values()))

    def __getattr__(self, name: str) -> Any:
        """Compute the one of the parameters that was not given, and keep it."""
        if name == "logits" and "probs" in vars(self):
            return kept(self, name, _log_odds)
        if name == "probs" and "logits" in vars(self):
            return kept(self, name, lambda self: self.logits.sigmoid())
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        names = [name for name in ("probs", "logits", *self.others) if name in vars(self)]
        return self._expanded(batch_shape, names)


class Bernoulli(Trials, ExponentialFamily):
    """0 or 1, and 1 with the probability `probs`, or of the log odds `logits`."""

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support: Any = constraints.boolean
    has_enumerate_support = True

    def __init__(
        self, probs: Values = None, logits: Values = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(self._set(probs, logits), validate_args=validate_args)

    _mean_carrier_measure = 0.0

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        return -ops.log_sigmoid(-x)

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self.probs

    @property
    def mode(self) -> Any:
        """Return the mode; NaN where both values are as likely."""
        probs = self.probs
        mode = (probs >= 0.5).to(probs.dtype)
        return ops.where(probs == 0.5, mode * float("nan"), mode)

    @property
    def variance(self) -> Any:
        """Return the variance."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples."""
        shape = self._extended_shape(sample_shape)
        probs = self.probs
        return drawn(lambda probs: generator().random(shape) < probs, probs.dtype, probs)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the probability."""
        self._validate_sample(value)
        return log_likelihood(value, self.logits)

    def entropy(self) -> Any:
        """Compute the entropy."""
        return -log_likelihood(self.probs, self.logits)

    def enumerate_support(self, expand: bool = True) -> Any:
        """List 0 and 1."""
        values = wrap(np.arange(2, dtype=self.probs.dtype))
        values = values.reshape(2, *(1 for _ in self._batch_shape))
        return values.expand((2, *self._batch_shape)) if expand else values


class Categorical(Distribution):
    """Whole numbers from 0, with the probabilities in the last dimension of `probs`.

    They are normalised; `logits` are log-probabilities up to a constant.
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        _check_one(probs, logits)
        given = logits if probs is None else probs
        if given.ndim < 1:
            name = "logits" if probs is None else "probs"
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is None:
            self.logits = logits - logits.logsumexp(-1, keepdim=True)
        else:
            self.probs = probs / probs.sum(-1, keepdim=True)
        self._param = given
        self._num_events = int(given.shape[-1])
        super().__init__(given.shape[:-1], validate_args=validate_args)

    def __getattr__(self, name: str) -> Any:
        """Compute the one of the parameters that was not given, and keep it."""
        if name == "logits":
            return kept(self, name, lambda self: clamped(self.probs).log())
        if name == "probs" and "logits" in vars(self):
            return kept(self, name, lambda self: self.logits.softmax(-1))
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        names = [name for name in ("_param", "probs", "logits") if name in vars(self)]
        return self._expanded(batch_shape, names)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """Return the interval of whole numbers."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Any:
        """Return NaN: categories are no numbers."""
        return wrap(np.full(self._batch_shape, np.nan, self._param.dtype))

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Any:
        """Return NaN: categories are no numbers."""
        return self.mean

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples."""
        shape = self._extended_shape(sample_shape)

        def draw(probs: Any) -> Any:
            bounds = np.cumsum(probs.astype(np.float64), axis=-1)
            points = generator().random(shape)
            found = (points[..., None] * bounds[..., -1:] >= bounds).sum(-1)
            return np.minimum(found, self._num_events - 1)

        return drawn(draw, np.int64, self.probs)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the probability."""
        self._validate_sample(value)
        index = value.long()
        shape = np.broadcast_shapes(tuple(index.shape), tuple(self._batch_shape))
        logits = self.logits.expand((*shape, self._num_events))
        return logits.gather(-1, index.expand(shape)[..., None])[..., 0]

    def entropy(self) -> Any:
        """Compute the entropy."""
        smallest = float(np.finfo(self._param.dtype).min)
        return -(self.logits.clamp(min=smallest) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        """List all categories."""
        values = wrap(np.arange(self._num_events))
        values = values.reshape(-1, *(1 for _ in self._batch_shape))
        return values.expand((self._num_events, *self._batch_shape)) if expand else values


class OfCategories(Distribution):
    """Base of distributions with the parameters of a `Categorical`, of vectors of its size."""

    arg_constraints: ClassVar[Any] = Categorical.arg_constraints

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits, validate_args)
        count = self._categorical._num_events
        super().__init__(self._categorical.batch_shape, (count,), validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        new = self._expanded(batch_shape, ())
        new._categorical = self._categorical.expand(batch_shape)
        return new

    @property
    def logits(self) -> Any:
        """Return the logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Any:
        """Return the probabilities."""
        return self._categorical.probs


class Poisson(ExponentialFamily):
    """Poisson distribution of mean `rate`."""

    arg_constraints: ClassVar[Any] = {"rate": constraints.nonnegative}
    support: Any = constraints.nonnegative_integer

    def __init__(self, rate: Values, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_of(self.rate, rate), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        return self._expanded(batch_shape, ("rate",))

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.rate.log(),)

    def _log_normalizer(self, x: Any) -> Any:
        return x.exp()

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self.rate

    @property
    def mode(self) -> Any:
        """Return the mode."""
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        """Return the variance."""
        return self.rate

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples."""
        shape = self._extended_shape(sample_shape)
        return drawn(lambda rate: generator().poisson(rate, shape), self.rate.dtype, self.rate)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the probability."""
        self._validate_sample(value)
        return ops.xlogy(value, self.rate) - self.rate - ops.lgamma(value + 1)

"""Kullback-Leibler divergences of distributions of different classes, from moments.

A divergence is the cross entropy less the entropy, and a cross entropy, the mean of a negative
log-density, needs but a few means of what is drawn: of `x`, `x**2`, `log(x)` and `exp(-x)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..dispatch.registry import ops
from .continuous import Exponential, Laplace, Normal, Uniform
from .continuous_bernoulli import ContinuousBernoulli
from .counts import Binomial
from .discrete import Bernoulli, Poisson
from .distribution import Distribution
from .gammas import Beta, Gamma
from .images import Gumbel, Pareto
from .kl import register_kl

Moment = Callable[[Any], Any]


def _x_log_x(x: Any) -> Any:
    return ops.xlogy(x, x)


# ---- means of what p draws


def _uniform_log(p: Any) -> Any:
    return (_x_log_x(p.high) - _x_log_x(p.low)) / (p.high - p.low) - 1


def _uniform_log_rest(p: Any) -> Any:
    return (_x_log_x(1 - p.low) - _x_log_x(1 - p.high)) / (p.high - p.low) - 1


def _beta_log(p: Any) -> Any:
    total: Any = ops.digamma(p.concentration1 + p.concentration0)
    return ops.digamma(p.concentration1) - total


MEAN_LOG: Final[dict[type, Moment]] = {
    Beta: _beta_log,
    Gamma: lambda p: ops.digamma(p.concentration) - p.rate.log(),
    Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
    Uniform: _uniform_log,
}
"""The mean of `log(x)`."""

MEAN_DECAY: Final[dict[type, Callable[[Any, Any], Any]]] = {
    Exponential: lambda p, scale: p.rate * scale / (p.rate * scale + 1),
    Gamma: lambda p, scale: (1 + (p.rate * scale).reciprocal()) ** -p.concentration,
    Normal: lambda p, scale: (-p.loc / scale + 0.5 * (p.scale / scale) ** 2).exp(),
    Uniform: lambda p, scale: (
        scale / (p.high - p.low) * ((-p.low / scale).exp() - (-p.high / scale).exp())
    ),
}
"""The mean of `exp(-x / scale)`."""


def _of(means: Mapping[type, Any], p: Any) -> Any:
    """Find the mean of a distribution, which may be of a subclass."""
    return next(means[kind] for kind in type(p).__mro__ if kind in means)


# ---- cross entropies: the means of -log q


def _to_normal(p: Any, q: Any) -> Any:
    square = p.variance + (p.mean - q.loc) ** 2
    return (q.scale * math.sqrt(2 * math.pi)).log() + 0.5 * square / q.scale**2


def _to_exponential(p: Any, q: Any) -> Any:
    return q.rate * p.mean - q.rate.log()


def _to_gamma(p: Any, q: Any) -> Any:
    a = q.concentration
    return ops.lgamma(a) - a * q.rate.log() - (a - 1) * _of(MEAN_LOG, p)(p) + q.rate * p.mean


def _to_gumbel(p: Any, q: Any) -> Any:
    decay = (q.loc / q.scale).exp() * _of(MEAN_DECAY, p)(p, q.scale)
    return q.scale.log() + (p.mean - q.loc) / q.scale + decay


def _to_continuous_bernoulli(p: Any, q: Any) -> Any:
    return -p.mean * q.logits - (-q.probs).log1p() - q._log_constant()


def _to_uniform(p: Any, q: Any) -> Any:
    found = (q.high - q.low).log() + p.mean * 0
    return found.masked_fill((q.low > 0) | (q.high < 1), math.inf)


CROSS_ENTROPIES: Final[tuple[tuple[Callable[[Any, Any], Any], type, tuple[type, ...]], ...]] = (
    (_to_normal, Normal, (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel)),
    (_to_exponential, Exponential, (Beta, ContinuousBernoulli)),
    (_to_gamma, Gamma, (Beta,)),
    (_to_gumbel, Gumbel, (Exponential, Gamma, Normal)),
    (_to_continuous_bernoulli, ContinuousBernoulli, (Beta, ContinuousBernoulli)),
    (_to_uniform, Uniform, (Beta, ContinuousBernoulli)),
)


def _registered(cross_entropy: Callable[[Any, Any], Any], p: type, q: type) -> None:
    @register_kl(p, q)
    def divergence(p: Any, q: Any) -> Any:
        return cross_entropy(p, q) - p.entropy()


for _cross_entropy, _q, _ps in CROSS_ENTROPIES:
    for _p in _ps:
        _registered(_cross_entropy, _p, _q)


# ---- from uniform numbers, which may lie outside


def _within(found: Any, p: Any, low: Any, high: Any = math.inf) -> Any:
    return found.masked_fill((p.low < low) | (p.high > high), math.inf)


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Any:
    a, b = q.concentration1, q.concentration0
    found = ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b) - p.entropy()
    found = found - (a - 1) * _uniform_log(p) - (b - 1) * _uniform_log_rest(p)
    return _within(found, p, 0, 1)


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Any, q: Any) -> Any:
    return _within(_to_continuous_bernoulli(p, q) - p.entropy(), p, 0, 1)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Any, q: Any) -> Any:
    return _within(_to_exponential(p, q) - p.entropy(), p, 0)


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Any, q: Any) -> Any:
    return _within(_to_gamma(p, q) - p.entropy(), p, 0)


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Any, q: Any) -> Any:
    return _to_gumbel(p, q) - p.entropy()


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Any:
    found = (q.alpha + 1) * _uniform_log(p) - q.alpha.log() - q.alpha * q.scale.log()
    return _within(found - p.entropy(), p, q.scale)


# ---- from Pareto's, whose moments may be infinite


def _where_finite(cross_entropy: Callable[[Any, Any], Any], p: Any, q: Any, order: int) -> Any:
    """Compute a divergence where the moment of an order is finite; infinity elsewhere."""
    infinite = p.alpha <= order
    other = Pareto(p.scale, p.alpha.masked_fill(infinite, order + 1.0), validate_args=False)
    return (cross_entropy(other, q) - other.entropy()).masked_fill(infinite, math.inf)


@register_kl(Pareto, Exponential)
def _pareto_exponential(p: Any, q: Any) -> Any:
    return _where_finite(_to_exponential, p, q, 1)


@register_kl(Pareto, Gamma)
def _pareto_gamma(p: Any, q: Any) -> Any:
    return _where_finite(_to_gamma, p, q, 1)


@register_kl(Pareto, Normal)
def _pareto_normal(p: Any, q: Any) -> Any:
    return _where_finite(_to_normal, p, q, 2)


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return found.masked_fill(p.scale < q.scale, math.inf)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return q.rate - p.probs * q.rate.log() - p.entropy()


# ---- where p draws what q never does

NEVER: Final[dict[type, tuple[type, ...]]] = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}


def _infinite(p: Distribution, q: Distribution) -> Any:
    parameter = getattr(p, next(iter(p.arg_constraints)))
    return parameter.detach() * 0 + math.inf


for _p, _qs in NEVER.items():
    for _q in _qs:
        register_kl(_p, _q)(_infinite)

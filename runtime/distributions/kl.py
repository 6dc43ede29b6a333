"""Kullback-Leibler divergences of pairs of distributions, by their classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import total_ordering
from typing import Any, Final, TypeVar

from ..core.missing import explaining as _explaining
from ..dispatch.registry import ops
from .continuous import Cauchy, Exponential, Laplace, MultivariateNormal, Normal, Uniform
from .counts import Binomial, Geometric, OneHotCategorical
from .discrete import Bernoulli, Categorical, Poisson
from .distribution import Distribution
from .exponential_family import ExponentialFamily, slopes_of
from .gammas import Beta, Dirichlet, Gamma
from .halves import HalfCauchy, HalfNormal
from .images import Gumbel
from .low_rank import LowRankMultivariateNormal
from .scalar_transforms import sum_rightmost
from .transformed import Independent, LogNormal, TransformedDistribution
from .validity import holds

__all__ = ["kl_divergence", "register_kl"]

__getattr__ = _explaining(__name__)

_Function = TypeVar("_Function", bound=Callable[..., Any])

_registry: Final[dict[tuple[type, type], Callable[..., Any]]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[_Function], _Function]:
    """Register a function as the divergence of two classes; used as a decorator."""
    for kind in (type_p, type_q):
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise TypeError(f"Expected a subclass of Distribution, but got {kind!r}")

    def register(function: _Function) -> _Function:
        _registry[type_p, type_q] = function
        return function

    return register


@total_ordering
class _Match:
    """Pair of registered classes; the smaller, the nearer to the actual ones."""

    def __init__(self, *types: type) -> None:
        self.types = types

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Match) and self.types == other.types

    def __le__(self, other: _Match) -> bool:
        return all(issubclass(a, b) for a, b in zip(self.types, other.types, strict=True))


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """Compute the divergence of `q` from `p`; NotImplementedError if none is registered."""
    found = [pair for pair in _registry if isinstance(p, pair[0]) and isinstance(q, pair[1])]
    if not found:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
            f"{type(q).__name__}"
        )
    nearest = min(_Match(*pair) for pair in found)
    return _registry[nearest.types](p, q)  # type: ignore[index]


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - ratio.log())


@register_kl(LogNormal, LogNormal)
def _log_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    return _of_one_trial(p.probs, q.probs, p.logits, q.logits) + _of_one_trial(
        1 - p.probs, 1 - q.probs, -p.logits, -q.logits
    )


def _of_one_trial(p: Any, q: Any, p_logits: Any, q_logits: Any) -> Any:
    """Compute `p * log(p / q)`: infinite where `q` alone is zero, and zero where `p` is."""
    found = p * (ops.log_sigmoid(p_logits) - ops.log_sigmoid(q_logits))
    return found.masked_fill(q == 0, math.inf).masked_fill(p == 0, 0.0)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    terms = terms.masked_fill(q.probs == 0, math.inf)
    return terms.masked_fill(p.probs == 0, 0.0).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    t1 = q.concentration * (p.rate / q.rate).log()
    t2 = ops.lgamma(q.concentration) - ops.lgamma(p.concentration)
    t3 = (p.concentration - q.concentration) * ops.digamma(p.concentration)
    return t1 + t2 + t3 + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    a, b, c, d = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    t1 = ops.lgamma(c) + ops.lgamma(d) + ops.lgamma(a + b)
    t2 = ops.lgamma(a) + ops.lgamma(b) + ops.lgamma(c + d)
    t3 = (a - c) * ops.digamma(a) + (b - d) * ops.digamma(b)
    return t1 - t2 + t3 + (c + d - a - b) * ops.digamma(a + b)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    t1 = ops.lgamma(a.sum(-1)) - ops.lgamma(b.sum(-1))
    t2 = (ops.lgamma(a) - ops.lgamma(b)).sum(-1)
    t3 = (a - b) * (ops.digamma(a) - ops.digamma(a.sum(-1))[..., None])
    return t1 - t2 + t3.sum(-1)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    euler = 0.57721566490153286060
    ratio, t1 = p.scale / q.scale, q.loc / q.scale
    t2 = p.loc / q.scale
    t3 = (t1 - t2 + ops.lgamma(ratio + 1)).exp()
    return -ratio.log() - t1 + t2 + ratio * euler + t3 - (1 + euler)


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return ops.xlogy(p.rate, p.rate) - ops.xlogy(p.rate, q.rate) - (p.rate - q.rate)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    t1 = ((p.scale + q.scale) ** 2 + (p.loc - q.loc) ** 2).log()
    return t1 - (4 * p.scale * q.scale).log()


@register_kl(HalfCauchy, HalfCauchy)
def _half_cauchy(p: Any, q: Any) -> Any:
    return _cauchy(p.base_dist, q.base_dist)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    failures = (1 - p.probs) / p.probs
    return -p.entropy() - ops.special_xlog1py(failures, -q.probs) - q.probs.log()


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if not holds(p.total_count >= q.total_count):
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    found = p.total_count * _bernoulli(p, q)
    return found.masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return kl_divergence(p._categorical, q._categorical)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("KL of images under different transforms")
    found = kl_divergence(p.base_dist, q.base_dist)
    return sum_rightmost(found, len(p.event_shape) - len(p.base_dist.event_shape))


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    shift, ratio = p.loc - q.loc, p.scale / q.scale
    scaled = shift / p.scale
    t1 = ratio.log()
    t2 = math.sqrt(2 / math.pi) * p.scale * (-0.5 * scaled**2).exp()
    t3 = shift * ops.erf(math.sqrt(0.5) * scaled)
    return -t1 + (t2 + t3) / q.scale - (0.5 * (1 + math.log(0.5 * math.pi)))


@register_kl(Laplace, Normal)
def _laplace_normal(p: Any, q: Any) -> Any:
    variance = q.scale**2
    squared = p.scale**2 / variance
    t1 = 0.5 * (2 * squared / math.pi).log()
    return (
        -t1
        + squared
        + 0.5 * p.loc**2 / variance
        - p.loc * q.loc / variance
        + (0.5 * q.loc**2 / variance - 1)
    )


@register_kl(Gamma, Exponential)
def _gamma_exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    a = p.concentration
    return -a - ratio.log() + ratio * a - ops.lgamma(a) + (a - 1) * ops.digamma(a) + 0 * a


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    t1 = -q.concentration * ratio.log()
    return (
        t1
        + ratio
        + ops.lgamma(q.concentration)
        + q.concentration * 0.57721566490153286060
        - (1 + 0.57721566490153286060)
    )


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return found.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Uniform, Normal)
def _uniform_normal(p: Any, q: Any) -> Any:
    width = p.high - p.low
    t1 = (math.sqrt(math.pi * 2) * q.scale / width).log()
    return t1 + 0.5 * (width**2 / 12 + ((p.high + p.low) / 2 - q.loc) ** 2) / q.scale**2


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be "
            "computed"
        )
    size = p.event_shape[0]
    own, other = p.scale_tril, q.scale_tril
    scaled = ops.linalg_solve_triangular(other, own, upper=False)
    shift = (q.loc - p.loc)[..., None]
    distance = ops.linalg_solve_triangular(other, shift, upper=False)
    squares = (scaled**2).sum((-2, -1)) + (distance**2).sum((-2, -1))
    volumes = (other.diagonal(0, -2, -1).log() - own.diagonal(0, -2, -1).log()).sum(-1)
    return volumes + 0.5 * (squares - size)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL of Independent distributions of different dimensions")
    found = kl_divergence(p.base_dist, q.base_dist)
    return sum_rightmost(found, p.reinterpreted_batch_ndims)


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily_expfamily(p: Any, q: Any) -> Any:
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed "
            "using Bregman divergences"
        )
    params, normalizer, slopes = slopes_of(p)
    others = q._natural_params
    result = q._log_normalizer(*others) - normalizer
    for param, other, slope in zip(params, others, slopes, strict=True):
        count = param.ndim - len(p.batch_shape)
        result = result - sum_rightmost((other - param) * slope, count)
    return result

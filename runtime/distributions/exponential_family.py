"""Exponential families: entropies and divergences by the slope of the log normalizer.

A density is `exp(t(x) · θ - F(θ) + k(x))`. The mean of `t(x)` is the gradient of `F`, so that the
entropy is `F(θ) - θ · ∇F(θ)` less the mean of `k(x)`, and the divergence of two of a family the
Bregman divergence of `F`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ..autograd.backward import grad
from ..core.tensor import Tensor
from .distribution import Distribution
from .scalar_transforms import sum_rightmost


class ExponentialFamily(Distribution):
    """Base of exponential families, which define θ, F and the mean of k.

    These are `_natural_params`, a tuple of tensors, `_log_normalizer(*natural_params)`, and the
    number `_mean_carrier_measure`.
    """

    _mean_carrier_measure: ClassVar[float | None] = None

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError(f"{type(self).__name__} does not define _natural_params")

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define _log_normalizer")

    def entropy(self) -> Any:
        """Compute the entropy."""
        if self._mean_carrier_measure is None:
            name = type(self).__name__
            raise NotImplementedError(f"{name} does not define _mean_carrier_measure")
        params, normalizer, slopes = slopes_of(self)
        result = normalizer - self._mean_carrier_measure
        for param, slope in zip(params, slopes, strict=True):
            count = param.ndim - len(self._batch_shape)
            result = result - sum_rightmost(param * slope, count)
        return result


def slopes_of(family: ExponentialFamily) -> tuple[list[Any], Any, tuple[Any, ...]]:
    """Return the natural parameters, the log normalizer, and its gradients."""
    params: list[Any] = [param.detach().requires_grad_() for param in family._natural_params]
    normalizer = family._log_normalizer(*params)
    return params, normalizer, grad(normalizer.sum(), params, create_graph=True)

"""Distributions of covariance and correlation matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..core.tensor import Tensor, wrap
from ..core.user_warnings import warn
from ..dispatch.registry import ops
from ..functions.composites import mvlgamma
from ..random import randn
from . import constraints
from .distribution import Distribution, Values, broadcast_all, kept
from .exponential_family import ExponentialFamily
from .factors import factor_of, from_factor, given_matrix
from .gammas import Beta, Chi2
from .validity import holds


class Wishart(ExponentialFamily):
    """Wishart distribution of `df` degrees of freedom, a number above the size less one.

    Its matrix is given as one of `covariance_matrix`, `precision_matrix` and `scale_tril`, the
    Cholesky factor of the first.
    """

    arg_constraints: ClassVar[Any] = {
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
        "df": constraints.greater_than(0),
    }
    support: Any = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0.0

    def __init__(
        self,
        df: Values,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = given_matrix(covariance_matrix, precision_matrix, scale_tril)
        if not isinstance(df, Tensor):
            df = wrap(np.asarray(df, matrix.dtype))
        batch = np.broadcast_shapes(tuple(matrix.shape[:-2]), tuple(df.shape))
        size = int(matrix.shape[-1])
        self.df = df.expand(batch)
        matrix = matrix.expand((*batch, size, size))
        vars(self)[name] = matrix
        if not holds(self.df > size - 1):
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}.")
        super().__init__(batch, (size, size), validate_args)
        self._tril = factor_of(name, matrix)
        if not holds(self.df >= size):
            warn("Low df values detected. Singular samples are highly likely to occur.")

    def __getattr__(self, name: str) -> Any:
        """Compute the matrices that were not given, and keep them."""
        if "_tril" in vars(self):
            return kept(self, name, lambda self: from_factor(type(self).__name__, self._tril, name))
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        names = [*self.arg_constraints, "_tril"]
        return self._expanded(batch_shape, [name for name in names if name in vars(self)])

    @property
    def mean(self) -> Any:
        """Return the mean."""
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Any:
        """Return the mode; NaN where there is none."""
        factor = self.df - self._event_shape[-1] - 1
        factor = factor.masked_fill(factor <= 0, math.nan)
        return factor[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Any:
        """Return the variance of each element."""
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(0, -2, -1)
        squares = diagonal[..., :, None] * diagonal[..., None, :]
        return self.df[..., None, None] * (covariance**2 + squares)

    def rsample(self, sample_shape: Sequence[int] = (), max_try_correction: Any = None) -> Any:
        """Draw samples through which gradients flow, by Bartlett's decomposition."""
        size = self._event_shape[-1]
        degrees = self.df[..., None] - wrap(np.arange(size, dtype=self._tril.dtype))
        roots = Chi2(degrees, validate_args=False).rsample(sample_shape).sqrt()
        normal = randn(self._extended_shape(sample_shape), dtype=self._tril.dtype)
        factor = self._tril @ (normal.tril(-1) + ops.diag_embed(roots))
        return factor @ factor.mT

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        size, half = self._event_shape[-1], self.df / 2
        own = self._tril.diagonal(0, -2, -1).log().sum(-1)
        traces = ops.cholesky_solve(value, self._tril).diagonal(0, -2, -1).sum(-1)
        return (
            -self.df * (size * math.log(2) / 2 + own)
            - mvlgamma(half, size)
            + 0.5 * (self.df - size - 1) * ops.linalg_slogdet(value)[1]
            - 0.5 * traces
        )

    def entropy(self) -> Any:
        """Compute the entropy."""
        size, half = self._event_shape[-1], self.df / 2
        own = self._tril.diagonal(0, -2, -1).log().sum(-1)
        return (
            (size + 1) * (size * math.log(2) / 2 + own)
            + mvlgamma(half, size)
            - 0.5 * (self.df - size - 1) * _mv_digamma(half, size)
            + self.df * size / 2
        )

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return -0.5 * self.precision_matrix, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        size = self._event_shape[-1]
        half = y + (size + 1) / 2
        return half * (size * math.log(2) - ops.linalg_slogdet(-2 * x)[1]) + mvlgamma(half, size)


def _mv_digamma(a: Any, size: int) -> Any:
    """Return the derivative of the multivariate log-gamma function of order `size`."""
    steps = wrap(np.arange(size, dtype=a.dtype) * 0.5)
    return ops.digamma(a[..., None] - steps).sum(-1)


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices of density `det ** (concentration - 1)`.

    A `dim` below 2 is refused (ValueError).
    """

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive}
    support: Any = constraints.corr_cholesky

    def __init__(
        self, dim: int, concentration: Values = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found {dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        return self._expanded(batch_shape, ("concentration",))

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples, row by row: a direction, and the share of its length (the onion method)."""
        size, dtype = self.dim, self.concentration.dtype
        steps = wrap(np.arange(size - 1, dtype=dtype))
        above = self.concentration.detach()[..., None] + 0.5 * (size - 2) - 0.5 * steps
        shares = Beta(steps + 0.5, above, validate_args=False).sample(sample_shape)[..., None]
        normal = randn(self._extended_shape(sample_shape), dtype=dtype).tril(-1)[..., 1:, :]
        rows = shares.sqrt() * normal / normal.norm(dim=-1, keepdim=True)
        first = wrap(np.zeros((*rows.shape[:-2], 1, size), dtype))
        factor = ops.cat([first, rows], -2)
        rest = (1 - (factor**2).sum(-1)).clamp(min=float(np.finfo(dtype).tiny)).sqrt()
        return factor + ops.diag_embed(rest)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        size = self.dim
        diagonal = value.diagonal(0, -2, -1)[..., 1:]
        order = (
            2 * (self.concentration[..., None] - 1)
            + size
            - wrap(np.arange(2, size + 1, dtype=self.concentration.dtype))
        )
        alpha = self.concentration + 0.5 * (size - 1)
        constant = 0.5 * (size - 1) * math.log(math.pi) + mvlgamma(alpha - 0.5, size - 1)
        normalizer = constant - ops.lgamma(alpha) * (size - 1)
        return (order * diagonal.log()).sum(-1) - normalizer

"""Normal distribution of vectors whose covariance is a diagonal and a matrix of low rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..core.tensor import wrap
from ..dispatch.registry import ops
from ..random import randn
from . import constraints
from .distribution import Distribution, Values


class LowRankMultivariateNormal(Distribution):
    """Normal distribution of the covariance `cov_factor @ cov_factor.mT + diag(cov_diag)`.

    Its density takes a Cholesky factor of the rank's size (Woodbury's identity).
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support: Any = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None
    ) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        size = loc.shape[-1]
        if cov_factor.ndim < 2 or cov_factor.shape[-2] != size:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {size} x m")
        if cov_diag.shape[-1:] != (size,):
            raise ValueError(f"cov_diag must be a batch of vectors with shape {size}")
        shapes = loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]
        batch = np.broadcast_shapes(*map(tuple, shapes))
        self.loc = loc.expand((*batch, size))
        self.cov_factor = cov_factor.expand((*batch, *cov_factor.shape[-2:]))
        self.cov_diag = cov_diag.expand((*batch, size))
        super().__init__(batch, (size,), validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Any:
        """Return the distribution for a larger batch."""
        return self._expanded(batch_shape, ("loc", "cov_factor", "cov_diag"))

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
        return (self.cov_factor**2).sum(-1) + self.cov_diag

    @property
    def covariance_matrix(self) -> Any:
        """Return the covariance."""
        return self.cov_factor @ self.cov_factor.mT + ops.diag_embed(self.cov_diag)

    @property
    def scale_tril(self) -> Any:
        """Return the Cholesky factor of the covariance."""
        return ops.linalg_cholesky(self.covariance_matrix)

    @property
    def precision_matrix(self) -> Any:
        """Return the inverse of the covariance."""
        return ops.linalg_inv(self.covariance_matrix)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow."""
        shape, dtype = self._extended_shape(sample_shape), self.loc.dtype
        inner = randn(*shape[:-1], self.cov_factor.shape[-1], 1, dtype=dtype)
        outer = randn(shape, dtype=dtype)
        return self.loc + (self.cov_factor @ inner)[..., 0] + self.cov_diag.sqrt() * outer

    def _capacitance(self) -> tuple[Any, Any]:
        """Return `W.mT / D`, and the Cholesky factor of `I + W.mT / D @ W`."""
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        identity = wrap(np.eye(self.cov_factor.shape[-1], dtype=self.loc.dtype))
        return scaled, ops.linalg_cholesky(identity + scaled @ self.cov_factor)

    def _log_det(self, factor: Any) -> Any:
        return 2 * factor.diagonal(0, -2, -1).log().sum(-1) + self.cov_diag.log().sum(-1)

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density."""
        self._validate_sample(value)
        difference = value - self.loc
        scaled, factor = self._capacitance()
        inner = ops.linalg_solve_triangular(factor, scaled @ difference.unsqueeze(-1), upper=False)
        squares = (difference**2 / self.cov_diag).sum(-1) - (inner**2).sum((-2, -1))
        size = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (size + self._log_det(factor) + squares)

    def entropy(self) -> Any:
        """Compute the entropy."""
        _, factor = self._capacitance()
        size = self._event_shape[0] * (1 + math.log(2 * math.pi))
        return 0.5 * (size + self._log_det(factor))

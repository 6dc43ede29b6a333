"""Modules of dropout of whole channels, and of dropout that keeps mean and variance of `selu`."""

from __future__ import annotations

from ...core.tensor import Tensor
from .. import functional as F
from ..layers import DropoutWith


class Dropout1d(DropoutWith):
    """Dropout of whole channels of (N, C, L) or (C, L)."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop elements of `input`; outside of training return it."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(DropoutWith):
    """Dropout of whole channels of (N, C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop elements of `input`; outside of training return it."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(DropoutWith):
    """Dropout of whole channels of (N, C, D, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop elements of `input`; outside of training return it."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(DropoutWith):
    """Dropout to the limit of `selu` at -inf, which restores mean and variance."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop elements of `input`; outside of training return it."""
        return F.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(DropoutWith):
    """`AlphaDropout` of whole channels."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop elements of `input`; outside of training return it."""
        return F.feature_alpha_dropout(input, self.p, self.training, self.inplace)

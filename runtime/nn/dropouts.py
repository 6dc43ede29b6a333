"""Modules that drop whole channels, or keep the mean and variance of `selu`."""

from __future__ import annotations

from ..core.tensor import Tensor
from . import functional as F
from .layers import Dropout


class Dropout1d(Dropout):
    """In training whole channels of (N, C, L) or (C, L) as zeros with probability `p`."""

    def forward(self, input: Tensor) -> Tensor:
        """Of the shape of `input`; itself outside of training."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(Dropout):
    """In training whole channels of (N, C, H, W) as zeros with probability `p`."""

    def forward(self, input: Tensor) -> Tensor:
        """Of the shape of `input`; itself outside of training."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(Dropout):
    """In training whole channels of (N, C, D, H, W) as zeros with probability `p`."""

    def forward(self, input: Tensor) -> Tensor:
        """Of the shape of `input`; itself outside of training."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(Dropout):
    """In training what `selu` tends to below, with probability `p`; the variance is restored."""

    def forward(self, input: Tensor) -> Tensor:
        """Of the shape of `input`; itself outside of training."""
        return F.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(Dropout):
    """`AlphaDropout` of whole channels."""

    def forward(self, input: Tensor) -> Tensor:
        """Of the shape of `input`; itself outside of training."""
        return F.feature_alpha_dropout(input, self.p, self.training, self.inplace)

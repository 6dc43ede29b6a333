"""Modules of normalisation over groups of channels, single channels, or the last dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...core.user_warnings import warn
from .. import functional as F
from .. import init
from ..layers import RunningNorm
from ..module import Module
from ..parameter import empty_parameter


class GroupNorm(Module):
    """Group normalisation: groups of channels get mean 0 and variance 1, then scale and shift."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine
        shape = (num_channels,)
        self.register_parameter("weight", empty_parameter(shape, dtype, device) if affine else None)
        self.register_parameter(
            "bias", empty_parameter(shape, dtype, device) if affine and bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set scales to one and shifts to zero."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise `input`."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Show the sizes."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Normalisation of the last dimensions by the root of their mean square, then a scale."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape, self.eps = tuple(shape), eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter(
            "weight", empty_parameter(shape, dtype, device) if elementwise_affine else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set scales to one."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise `input`."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Show the sizes."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class LocalResponseNorm(Module):
    """Normalisation by a power of the mean square over neighbouring channels."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        """Normalise `input`."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """Show the numbers."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class _InstanceNorm(RunningNorm):
    """Base of instance normalisation; `ndims` are the dimensions without and with batch."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def forward(self, input: Tensor) -> Tensor:
        """Normalise `input`; in training also update the running statistics, if there are any."""
        self._check_input_dim(input)
        is_batch = input.ndim == self.ndims[1]
        batch = input if is_batch else input.unsqueeze(0)
        channels = batch.shape[1]
        if channels != self.num_features and self.affine:
            raise ValueError(
                f"expected input's size at dim=1 to match num_features ({self.num_features}), but "
                f"got: {channels}."
            )
        if channels != self.num_features:
            warn(
                f"the input has {channels} channels, which does not match num_features "
                f"({self.num_features}); without affine=True it is not used."
            )
        out = F.instance_norm(
            batch,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return out if is_batch else out.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (batch, channels, length), or without the batch."""

    ndims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (batch, channels, height, width), or without the batch."""

    ndims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (batch, channels, depth, height, width), or without the batch."""

    ndims = (4, 5)

"""Modules of convolution, normalisation, embedding and dropout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.captured import as_number
from ..core.tensor import Tensor, wrap
from ..functions.creation import float_dtype
from . import functional as F
from . import init
from .module import Module
from .parameter import check_table, empty_parameter, table

Sizes = int | Sequence[int]

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


# ---- convolution


class ConvNd(Module):
    """Base of all convolutions, the transposed ones too."""


def check_groups(in_channels: int, out_channels: int, groups: int) -> None:
    """Raise ValueError unless the channels of a convolution can be divided into the groups."""
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
        if channels % groups:
            raise ValueError(f"{name} must be divisible by groups")


class _Conv(ConvNd):
    """Base of convolutions, with a weight of shape (out_channels, in_channels / groups, ...)."""

    spatial: int
    transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: str | Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if padding_mode not in PADDING_MODES:
            raise ValueError(
                f"padding_mode must be one of {PADDING_MODES}, but got {padding_mode!r}"
            )
        check_groups(in_channels, out_channels, groups)
        if isinstance(padding, str) and padding not in ("valid", "same"):
            raise ValueError(
                f"Invalid padding string {padding!r}, it should be one of 'valid' and 'same'"
            )
        kernel = self._in_each_dim(kernel_size)
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = kernel, self._in_each_dim(stride)
        self.padding = padding if isinstance(padding, str) else self._in_each_dim(padding)
        self.dilation, self.padding_mode = self._in_each_dim(dilation), padding_mode
        self.output_padding = (0,) * self.spatial
        if padding == "same" and self.stride != (1,) * self.spatial:
            raise ValueError("padding='same' is not supported for strided convolutions")
        self.weight = empty_parameter((out_channels, in_channels // groups, *kernel), dtype, device)
        self.register_parameter(
            "bias", empty_parameter((out_channels,), dtype, device) if bias else None
        )
        self.reset_parameters()

    def _in_each_dim(self, size: Sizes) -> tuple[int, ...]:
        return (size,) * self.spatial if isinstance(size, int) else tuple(size)

    def reset_parameters(self) -> None:
        """Draw both uniformly within `1/sqrt(fan_in)`, as PyTorch does."""
        fan_in, _ = init.fans(self.weight)
        bound = 1 / math.sqrt(fan_in) if fan_in else 0.0
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Return the convolution, of shape (batch, out_channels, ...), or without the batch."""
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Convolve with another weight, as subclasses do that make theirs of the parameter."""
        convolve = (F.conv1d, F.conv2d, F.conv3d)[self.spatial - 1]
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            widths = self._reversed_padding_repeated_twice
            input, padding = F.pad(input, widths, mode=self.padding_mode), 0
        result: Tensor = convolve(
            input, weight, bias, self.stride, padding, self.dilation, self.groups
        )
        return result

    @property
    def _reversed_padding_repeated_twice(self) -> list[int]:
        """Return the widths of the padding as `pad` takes them: two a dimension, the last first."""
        if self.padding == "valid":
            return [0] * (2 * self.spatial)
        widths: list[int] = []
        for dim in reversed(range(self.spatial)):
            if self.padding == "same":
                total = self.dilation[dim] * (self.kernel_size[dim] - 1)
                widths += [total // 2, total - total // 2]
            else:
                widths += [int(self.padding[dim])] * 2
        return widths

    def extra_repr(self) -> str:
        """Show the sizes, and settings that are not the default."""
        parts = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        ]
        usual = {"padding": (0,) * self.spatial, "dilation": (1,) * self.spatial, "groups": 1}
        for name, default in usual.items():
            if getattr(self, name) != default:
                parts.append(f"{name}={getattr(self, name)}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


class Conv1d(_Conv):
    """Convolution over one dimension."""

    spatial = 1


class Conv2d(_Conv):
    """Convolution over two dimensions."""

    spatial = 2


class Conv3d(_Conv):
    """Convolution over three dimensions."""

    spatial = 3


# ---- normalisation


class RunningNorm(Module):
    """Base of normalisations of channels that may keep running statistics."""

    ndims: tuple[int, ...]
    """The numbers of dimensions that the input may have."""
    _version = 2
    """States of version 1, or of none, may lack `num_batches_tracked`."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, is_wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(
                name, empty_parameter((num_features,), dtype, device) if is_wanted else None
            )
        tracked = track_running_stats
        real = float_dtype(dtype)
        self.register_buffer(
            "running_mean", wrap(np.zeros(num_features, real)) if tracked else None
        )
        self.register_buffer("running_var", wrap(np.ones(num_features, real)) if tracked else None)
        self.register_buffer("num_batches_tracked", wrap(np.array(0)) if tracked else None)
        self.reset_parameters()

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        """Load the state of this module; one from before batches were counted keeps the count."""
        key = f"{prefix}num_batches_tracked"
        is_old = (local_metadata.get("version") or 1) < 2
        if is_old and self.track_running_stats and key not in state_dict:
            state_dict[key] = self.num_batches_tracked
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def reset_running_stats(self) -> None:
        """Start the running statistics anew: mean 0, variance 1, no batches."""
        if self.track_running_stats:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
            init.zeros_(self.num_batches_tracked)

    def reset_parameters(self) -> None:
        """Set scale and shift to 1 and 0, and start the running statistics anew."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        """Raise ValueError for a wrong number of dimensions; programs override and call it."""
        if input.ndim not in self.ndims:
            expected = " or ".join(f"{ndim}D" for ndim in self.ndims)
            raise ValueError(f"expected {expected} input (got {input.ndim}D input)")

    def extra_repr(self) -> str:
        """Show the sizes."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm(RunningNorm):
    """Batch normalisation: each channel gets mean 0 and variance 1, then scale and shift."""

    def forward(self, input: Tensor) -> Tensor:
        """Normalise `input`; in training also update the running statistics."""
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1 / as_number(self.num_batches_tracked.array)
        # Statistics that are not tracked any more are used in evaluation alone.
        is_read = self.track_running_stats or not self.training
        return F.batch_norm(
            input,
            self.running_mean if is_read else None,
            self.running_var if is_read else None,
            self.weight,
            self.bias,
            self.training or self.running_mean is None,
            momentum,
            self.eps,
        )


class BatchNorm1d(BatchNorm):
    """Batch normalisation of (batch, channels) or (batch, channels, length)."""

    ndims = (2, 3)


class BatchNorm2d(BatchNorm):
    """Batch normalisation of (batch, channels, height, width)."""

    ndims = (4,)


class BatchNorm3d(BatchNorm):
    """Batch normalisation of (batch, channels, depth, height, width)."""

    ndims = (5,)


class LayerNorm(Module):
    """Layer normalisation: the last dimensions get mean 0 and variance 1, then scale and shift."""

    def __init__(
        self,
        normalized_shape: Sizes,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape = tuple(shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        affine = elementwise_affine
        self.register_parameter("weight", empty_parameter(shape, dtype, device) if affine else None)
        self.register_parameter(
            "bias", empty_parameter(shape, dtype, device) if affine and bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set scale and shift to 1 and 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise `input`."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Show the sizes."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


# ---- chance and tables


class DropoutWith(Module):
    """Base of the kinds of dropout with probability `p`."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        """Show the probability."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(DropoutWith):
    """Dropout: in training elements are zeroed with probability `p`, the others scaled."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop elements of `input`; outside of training return it."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Embedding(Module):
    """Embedding: a table of vectors, looked up by index."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError("Padding_idx must be within num_embeddings")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self.weight = table((num_embeddings, embedding_dim), _weight, _freeze, dtype, device)
        if _weight is None:
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the vectors from a standard normal distribution; that of the padding is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.array[self.padding_idx] = 0

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """Make the module of a table of vectors, a matrix, which is not trained if `freeze`."""
        check_table(embeddings)
        rows, size = embeddings.shape
        return cls(
            rows,
            size,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            embeddings,
            freeze,
        )

    def forward(self, input: Tensor) -> Tensor:
        """Look up vectors; the shape is (*input, embedding_dim)."""
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        """Show the sizes."""
        given = {
            "padding_idx": self.padding_idx,
            "max_norm": self.max_norm,
            "norm_type": None if self.norm_type == 2 else self.norm_type,
            "scale_grad_by_freq": self.scale_grad_by_freq or None,
            "sparse": self.sparse or None,
        }
        named = [f"{name}={value}" for name, value in given.items() if value is not None]
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *named])

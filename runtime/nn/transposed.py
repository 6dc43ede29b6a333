"""Modules of transposed convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor
from . import functional as F
from . import init
from .layers import ConvNd, check_groups
from .parameter import empty_parameter

Sizes = int | Sequence[int]


class _ConvTranspose(ConvNd):
    """Base of transposed convolutions; the weight is (in_channels, out_channels / groups, ...)."""

    spatial: int
    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(
                f'Only "zeros" padding mode is supported for {type(self).__name__}, not '
                f"{padding_mode!r}"
            )
        check_groups(in_channels, out_channels, groups)
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = self._each(kernel_size), self._each(stride)
        self.padding, self.output_padding = self._each(padding), self._each(output_padding)
        self.dilation, self.padding_mode = self._each(dilation), padding_mode
        self.weight = empty_parameter(
            (in_channels, out_channels // groups, *self.kernel_size), dtype, device
        )
        self.register_parameter(
            "bias", empty_parameter((out_channels,), dtype, device) if bias else None
        )
        self.reset_parameters()

    def _each(self, value: Sizes) -> tuple[int, ...]:
        return (value,) * self.spatial if isinstance(value, int) else tuple(value)

    def reset_parameters(self) -> None:
        """Draw both uniformly within `1/sqrt(fan_in)`, as PyTorch does."""
        fan_in, _ = init.fans(self.weight)
        bound = 1 / math.sqrt(fan_in) if fan_in else 0.0
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Return the result, of shape (batch, out_channels, ...), or without the batch.

        With a stride several sizes are possible: `output_size` chooses one of them.
        """
        if input.ndim not in (self.spatial + 1, self.spatial + 2):
            raise RuntimeError(
                f"Expected {self.spatial + 1}D (unbatched) or {self.spatial + 2}D (batched) input "
                f"to conv_transpose{self.spatial}d, but got input of size: {list(input.shape)}"
            )
        convolve = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self.spatial - 1]
        extra = self._output_padding(
            input,
            output_size,
            self.stride,
            self.padding,
            self.kernel_size,
            self.spatial,
            self.dilation,
        )
        result: Tensor = convolve(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            extra,
            self.groups,
            self.dilation,
        )
        return result

    def _output_padding(
        self,
        input: Tensor,
        output_size: Sequence[int] | None,
        stride: Sequence[int],
        padding: Sequence[int],
        kernel_size: Sequence[int],
        num_spatial_dims: int,
        dilation: Sequence[int] | None = None,
    ) -> tuple[int, ...]:
        """Return the output padding that leads to a size; that of the module if there is none."""
        if output_size is None:
            return self.output_padding
        if len(output_size) not in (num_spatial_dims, input.ndim):
            raise ValueError(
                f"{type(self).__name__}: for {input.ndim}D input, output_size must have "
                f"{num_spatial_dims} or {input.ndim} elements (got {len(output_size)})"
            )
        smallest = [
            (size - 1) * step - 2 * pad + apart * (kernel - 1) + 1
            for size, step, pad, apart, kernel in zip(
                input.shape[-num_spatial_dims:],
                stride,
                padding,
                dilation or (1,) * num_spatial_dims,
                kernel_size,
                strict=True,
            )
        ]
        wanted = list(output_size[-num_spatial_dims:])
        extra = tuple(size - least for size, least in zip(wanted, smallest, strict=True))
        if any(not 0 <= more < step for more, step in zip(extra, stride, strict=True)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {smallest} to "
                f"{[s + n - 1 for s, n in zip(smallest, stride, strict=True)]} (for an input "
                f"of {list(input.shape[2:])})"
            )
        return extra

    def extra_repr(self) -> str:
        """Show the sizes, and settings that are not the default."""
        parts = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        ]
        zeros = (0,) * self.spatial
        for name, default in (
            ("padding", zeros),
            ("dilation", (1,) * self.spatial),
            ("output_padding", zeros),
            ("groups", 1),
        ):
            if getattr(self, name) != default:
                parts.append(f"{name}={getattr(self, name)}")
        return ", ".join(parts if self.bias is not None else [*parts, "bias=False"])


class ConvTranspose1d(_ConvTranspose):
    """Transposed convolution over one dimension."""

    spatial = 1


class ConvTranspose2d(_ConvTranspose):
    """Transposed convolution over two dimensions."""

    spatial = 2


class ConvTranspose3d(_ConvTranspose):
    """Transposed convolution over three dimensions."""

    spatial = 3

"""Modules of pooling, one base for each kind and a class for each number of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from .. import functional as F
from ..module import Module

Sizes = int | Sequence[int]
OptionalSizes = int | None | Sequence[int | None]


class _Windows(Module):
    """Base of pooling over windows of `spatial` dimensions; the stride is by default their size."""

    spatial: int

    def __init__(self, kernel_size: Sizes, stride: Sizes | None, padding: Sizes) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding

    def _in_each_dim(self, size: Sizes) -> tuple[int, ...]:
        return tuple(size) if isinstance(size, Sequence) else (size,) * self.spatial

    def extra_repr(self) -> str:
        """Show the windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


# ---- maxima


class _MaxPool(_Windows):
    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(kernel_size, stride, padding)
        self.dilation, self.return_indices, self.ceil_mode = dilation, return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        """Return the maxima; with `return_indices` also their indices."""
        pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[self.spatial - 1]
        return pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )

    def extra_repr(self) -> str:
        """Show the windows."""
        return f"{super().extra_repr()}, dilation={self.dilation}, ceil_mode={self.ceil_mode}"


class MaxPool1d(_MaxPool):
    """Maxima of windows of one dimension."""

    spatial = 1


class MaxPool2d(_MaxPool):
    """Maxima of windows of two dimensions."""

    spatial = 2


class MaxPool3d(_MaxPool):
    """Maxima of windows of three dimensions."""

    spatial = 3


class _MaxUnpool(_Windows):
    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        windows = (kernel_size, kernel_size if stride is None else stride, padding)
        super().__init__(*map(self._in_each_dim, windows))

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Put the maxima at their indices, with zeros elsewhere."""
        unpool = (F.max_unpool1d, F.max_unpool2d, F.max_unpool3d)[self.spatial - 1]
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpool):
    """Partial inverse of `MaxPool1d`: maxima at their indices."""

    spatial = 1


class MaxUnpool2d(_MaxUnpool):
    """Partial inverse of `MaxPool2d`: maxima at their indices."""

    spatial = 2


class MaxUnpool3d(_MaxUnpool):
    """Partial inverse of `MaxPool3d`: maxima at their indices."""

    spatial = 3


# ---- means


class _AvgPool(_Windows):
    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        windows = (self.kernel_size, self.stride, self.padding)
        options = (self.ceil_mode, self.count_include_pad)
        if self.spatial == 1:
            return F.avg_pool1d(input, *windows, *options)
        pool = F.avg_pool2d if self.spatial == 2 else F.avg_pool3d
        return pool(input, *windows, *options, self.divisor_override)


class AvgPool1d(_AvgPool):
    """Means over windows of one dimension."""

    spatial = 1

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(
            self._in_each_dim(kernel_size),
            self._in_each_dim(kernel_size if stride is None else stride),
            self._in_each_dim(padding),
            ceil_mode,
            count_include_pad,
        )


class AvgPool2d(_AvgPool):
    """Means over windows of two dimensions."""

    spatial = 2


class AvgPool3d(_AvgPool):
    """Means over windows of three dimensions."""

    spatial = 3


# ---- norms


class _LPPool(Module):
    """Base of pooling by p-norms."""

    spatial: int

    def __init__(
        self,
        norm_type: float,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """Return the norms."""
        pool: Any = (F.lp_pool1d, F.lp_pool2d, F.lp_pool3d)[self.spatial - 1]
        norms: Tensor = pool(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )
        return norms

    def extra_repr(self) -> str:
        """Show the windows."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """P-norms of windows of one dimension."""

    spatial = 1


class LPPool2d(_LPPool):
    """P-norms of windows of two dimensions."""

    spatial = 2


class LPPool3d(_LPPool):
    """P-norms of windows of three dimensions."""

    spatial = 3


# ---- adaptive: a given number of windows


class _Adaptive(Module):
    """Base of pooling to a given size, over windows of nearly equal length."""

    spatial: int

    def __init__(self, output_size: OptionalSizes) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        """Show the output size."""
        return f"output_size={self.output_size}"


class _AdaptiveAvgPool(_Adaptive):
    def forward(self, input: Tensor) -> Tensor:
        """Return the means, of the output size."""
        pools: Any = (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)
        means: Tensor = pools[self.spatial - 1](input, self.output_size)
        return means


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Means over windows of the last dimension, as many as the output size."""

    spatial = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Means over windows of the last two dimensions, as many as the output sizes."""

    spatial = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """Means over windows of the last three dimensions, as many as the output sizes."""

    spatial = 3


class _AdaptiveMaxPool(_Adaptive):
    def __init__(self, output_size: OptionalSizes, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        """Return the maxima, of the output size; with `return_indices` also their indices."""
        pools: Any = (F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d)
        return pools[self.spatial - 1](input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """Maxima over windows of the last dimension, as many as the output size."""

    spatial = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """Maxima over windows of the last two dimensions, as many as the output sizes."""

    spatial = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """Maxima over windows of the last three dimensions, as many as the output sizes."""

    spatial = 3

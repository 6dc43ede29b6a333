"""Modules that resample images, exchange channels for pixels, or cut images into patches."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.tensor import Tensor
from .. import functional as F
from ..module import Module

Sizes = int | Sequence[int]
Factors = float | Sequence[float]


class Upsample(Module):
    """Interpolation of the spatial dimensions to other lengths."""

    def __init__(
        self,
        size: Sizes | None = None,
        scale_factor: Factors | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.size, self.mode, self.align_corners = size, mode, align_corners
        self.scale_factor: float | tuple[float, ...] | None
        if isinstance(scale_factor, Sequence):
            self.scale_factor = tuple(map(float, scale_factor))
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Return the images in the other size."""
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        """Show the size and the mode."""
        factor = f"scale_factor={self.scale_factor!r}"
        given = f"size={self.size!r}" if self.scale_factor is None else factor
        return f"{given}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Interpolation of images by the element at or before each position."""

    def __init__(self, size: Sizes | None = None, scale_factor: Factors | None = None) -> None:
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """Linear interpolation of images that keeps the corners in place."""

    def __init__(self, size: Sizes | None = None, scale_factor: Factors | None = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


class PixelShuffle(Module):
    """Rearrangement of channels to pixels, `upscale_factor` times as many in height and width."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of shape (..., C / r², H r, W r)."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """Show the factor."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Rearrangement of squares of pixels to channels."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of shape (..., C r², H / r, W / r)."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """Show the factor."""
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Rearrangement that takes channels from all groups in turn."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """Return the rearranged tensor, of the same shape."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """Show the groups."""
        return f"groups={self.groups}"


class _OfPatches(Module):
    """Base of what takes images apart into patches, or puts them together."""

    def __init__(
        self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
    ) -> None:
        super().__init__()
        self.kernel_size, self.dilation = kernel_size, dilation
        self.padding, self.stride = padding, stride

    def extra_repr(self) -> str:
        """Show the patches."""
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


class Unfold(_OfPatches):
    """Patches of images as columns."""

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of shape (N, C times kernel, positions)."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(_OfPatches):
    """Images as sums of columns of patches."""

    def __init__(
        self,
        output_size: Sizes,
        kernel_size: Sizes,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        stride: Sizes = 1,
    ) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of shape (N, C, *output_size)."""
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        """Show the images and the patches."""
        return f"output_size={self.output_size}, {super().extra_repr()}"


class Unflatten(Module):
    """Module that splits one dimension into several."""

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        if not isinstance(unflattened_size, tuple | list):
            raise TypeError(
                "unflattened_size must be a tuple of ints, but found type "
                f"{type(unflattened_size).__name__}"
            )
        for place, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {place}"
                )
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        """Return a view of `input`."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """Show the dimension and its parts."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"

"""Channels exchanged for pixels, and among one another."""

from __future__ import annotations

import math

from ..elementwise.checks import Array


def pixel_shuffle(self: Array, upscale_factor: int) -> Array:
    """(..., C r², H, W) as (..., C, H r, W r): the channels become pixels around each pixel."""
    _check_pixels("pixel_shuffle", self, "an upscale", upscale_factor)
    *batch, channels, height, width = self.shape
    if channels % upscale_factor**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by "
            f"{upscale_factor**2}"
        )
    factors = (upscale_factor, upscale_factor)
    kept = channels // upscale_factor**2
    parts = self.reshape(math.prod(batch), kept, *factors, height, width)
    moved = parts.transpose(0, 1, 4, 2, 5, 3)
    return moved.reshape(*batch, kept, height * upscale_factor, width * upscale_factor)


def pixel_unshuffle(self: Array, downscale_factor: int) -> Array:
    """(..., C, H r, W r) as (..., C r², H, W), which undoes `pixel_shuffle`."""
    _check_pixels("pixel_unshuffle", self, "a downscale", downscale_factor)
    *batch, channels, height, width = self.shape
    for name, length in (("height", height), ("width", width)):
        if length % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"{length} is not divisible by {downscale_factor}"
            )
    sizes = (height // downscale_factor, width // downscale_factor)
    parts = self.reshape(
        math.prod(batch), channels, sizes[0], downscale_factor, sizes[1], downscale_factor
    )
    moved = parts.transpose(0, 1, 3, 5, 2, 4)
    return moved.reshape(*batch, channels * downscale_factor**2, *sizes)


def _check_pixels(name: str, self: Array, kind: str, factor: int) -> None:
    if self.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {self.ndim} "
            "dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects {kind} factor that is positive, but got {factor}")


def channel_shuffle(self: Array, groups: int) -> Array:
    """Channel `j` of group `i` becomes channel `i` of group `j`."""
    _check_channels(self, groups)
    batch, channels, *sizes = self.shape
    parts = self.reshape(batch, groups, channels // groups, *sizes)
    return parts.swapaxes(1, 2).reshape(self.shape)


def channel_unshuffle(self: Array, groups: int) -> Array:
    """The channels as they were before `channel_shuffle`."""
    _check_channels(self, groups)
    batch, channels, *sizes = self.shape
    parts = self.reshape(batch, channels // groups, groups, *sizes)
    return parts.swapaxes(1, 2).reshape(self.shape)


def _check_channels(self: Array, groups: int) -> None:
    if self.ndim < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes "
            f"{list(self.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if self.shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {self.shape[1]} channels and "
            f"{groups} groups."
        )

"""Images as columns of patches, and columns of patches added up to images.

The loops run over the positions in a patch; each step is one slice of all images.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..elementwise.checks import Array
from .padding import padded

Sizes = tuple[int, ...]
IntOrSizes = int | Sequence[int]


class _Patches(NamedTuple):
    """The geometry of patches, two numbers each: rows, then columns."""

    kernel: Sizes
    dilation: Sizes
    padding: Sizes
    stride: Sizes
    sizes: Sizes
    """The sizes of the image."""

    @property
    def places(self) -> Sizes:
        """The number of patches."""
        return tuple(
            (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
            for kernel, dilation, padding, stride, size in zip(*self, strict=True)
        )

    def positions(self) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        """The elements at each position in all patches: in an array of patches, in the image."""
        for position in itertools.product(*map(range, self.kernel)):
            yield (
                (..., *position, slice(None), slice(None)),
                (
                    ...,
                    *(
                        slice(at * dilation, at * dilation + stride * (place - 1) + 1, stride)
                        for at, dilation, stride, place in zip(
                            position, self.dilation, self.stride, self.places, strict=True
                        )
                    ),
                ),
            )


def im2col(
    self: Array,
    kernel_size: IntOrSizes,
    dilation: IntOrSizes,
    padding: IntOrSizes,
    stride: IntOrSizes,
) -> Array:
    """The patches of (N, C, H, W), or of one image, as (N, C times kernel, places)."""
    if self.ndim not in (3, 4) or 0 in self.shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(self.shape)}"
        )
    patches = _patches(self.shape[-2:], kernel_size, dilation, padding, stride)
    if min(patches.places) < 1:
        raise RuntimeError(
            f"Given input with spatial size {patches.sizes}, calculated shape of the array of "
            f"sliding blocks as {patches.places}, but its components must be at least one."
        )
    image = padded(self, patches.padding, patches.padding, 0)
    *head, channels = self.shape[:-2]
    out = np.empty_like(image, order="C", shape=(*head, channels, *patches.kernel, *patches.places))
    for position, places in patches.positions():
        out[position] = image[places]
    return out.reshape(*head, channels * math.prod(patches.kernel), math.prod(patches.places))


def col2im(
    self: Array,
    output_size: IntOrSizes,
    kernel_size: IntOrSizes,
    dilation: IntOrSizes,
    padding: IntOrSizes,
    stride: IntOrSizes,
) -> Array:
    """Columns of patches added up to images of (N, C, *output_size), or to one image."""
    if self.ndim not in (2, 3) or 0 in self.shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(self.shape)}"
        )
    sizes = _pair(output_size, "output_size")
    patches = _patches(sizes, kernel_size, dilation, padding, stride)
    each = math.prod(patches.kernel)
    *head, rows, columns = self.shape
    if rows % each:
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={rows} and kernel_size={patches.kernel}."
        )
    if min(patches.places) < 1 or columns != math.prod(patches.places):
        raise RuntimeError(
            f"Given output_size={sizes}, expected size of input's dimension 2 to match the "
            f"calculated number of sliding blocks {patches.places}, but got input.size(2)={columns}"
        )
    parts = self.reshape(*head, rows // each, *patches.kernel, *patches.places)
    lengths = [size + 2 * pad for size, pad in zip(sizes, patches.padding, strict=True)]
    out = np.zeros_like(self, order="C", shape=(*head, rows // each, *lengths))
    for position, places in patches.positions():
        out[places] += parts[position]
    edges = zip(patches.padding, sizes, strict=True)
    inside: list[Any] = [slice(before, before + size) for before, size in edges]
    return out[(..., *inside)].copy()


def _patches(
    sizes: Sequence[int],
    kernel_size: IntOrSizes,
    dilation: IntOrSizes,
    padding: IntOrSizes,
    stride: IntOrSizes,
) -> _Patches:
    patches = _Patches(
        _pair(kernel_size, "kernel_size"),
        _pair(dilation, "dilation"),
        _pair(padding, "padding"),
        _pair(stride, "stride"),
        tuple(sizes),
    )
    for name in ("kernel", "dilation", "stride"):
        if min(getattr(patches, name)) <= 0:
            raise RuntimeError(
                f"{name} should be greater than zero, but got {getattr(patches, name)}"
            )
    if min(patches.padding) < 0:
        raise RuntimeError(f"padding should be non-negative, but got {patches.padding}")
    return patches


def _pair(value: IntOrSizes, name: str) -> Sizes:
    if isinstance(value, int):
        return (value, value)
    if len(value) not in (1, 2):
        raise RuntimeError(f"It is expected {name} equals to 1 or 2 numbers, but got {list(value)}")
    return (value[0], value[-1])

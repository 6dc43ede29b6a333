"""Images interpolated to a size or by a factor, and images sampled at the points of a grid."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Final

from ...core.tensor import Tensor
from ...core.user_warnings import warn
from ...generated import pooling, resampling
from ...generated.names import nn as nn_names

Sizes = int | Sequence[int]
Factors = float | Sequence[float]

_RESAMPLED: Final[Mapping[tuple[str, int], Callable[..., Tensor]]] = {
    ("nearest", 1): resampling._upsample_nearest1d,
    ("nearest", 2): resampling._upsample_nearest2d,
    ("nearest", 3): resampling._upsample_nearest3d,
    ("nearest-exact", 1): resampling._upsample_nearest_exact1d,
    ("nearest-exact", 2): resampling._upsample_nearest_exact2d,
    ("nearest-exact", 3): resampling._upsample_nearest_exact3d,
    ("linear", 1): resampling._upsample_linear1d,
    ("bilinear", 2): resampling._upsample_bilinear2d,
    ("bicubic", 2): resampling._upsample_bicubic2d,
    ("trilinear", 3): resampling._upsample_trilinear3d,
}
"""Ops by mode and number of spatial dimensions."""

_ANTIALIASED: Final[Mapping[str, Callable[..., Tensor]]] = {
    "bilinear": resampling._upsample_bilinear2d_aa,
    "bicubic": resampling._upsample_bicubic2d_aa,
}

_MEANS: Final = (
    pooling.adaptive_avg_pool1d,
    pooling.adaptive_avg_pool2d,
    pooling.adaptive_avg_pool3d,
)

_MODES: Final = ("bilinear", "nearest", "bicubic")
_PADDING_MODES: Final = ("zeros", "border", "reflection")

_WITHOUT_CORNERS: Final = ("nearest", "area", "nearest-exact")


def interpolate(
    input: Tensor,
    size: Sizes | None = None,
    scale_factor: Factors | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Interpolate the spatial dimensions of (N, C, ...) to other lengths.

    The lengths are `size`, or those of the input times `scale_factor`, rounded down. Modes:
    nearest, nearest-exact, area, linear (one dimension), bilinear, bicubic (two), trilinear
    (three). `align_corners` keeps the outermost elements in place; with `recompute_scale_factor`
    the factor is that of the rounded lengths. ValueError for options that do not go together.
    """
    if mode in _WITHOUT_CORNERS and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear "
            "| bicubic | trilinear"
        )
    spatial = input.ndim - 2
    wanted, factors = _lengths(input, size, scale_factor, recompute_scale_factor)
    if antialias and (mode not in _ANTIALIASED or spatial != 2):
        raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes in 2D")
    if mode == "area" and spatial in (1, 2, 3):
        return _MEANS[spatial - 1](input, wanted)
    if (mode, spatial) not in _RESAMPLED:
        raise NotImplementedError(
            f"Input Error: no mode {mode} of a {input.ndim}D input. Modes: nearest | nearest-exact "
            "| area (3D to 5D), linear (3D), bilinear | bicubic (4D), trilinear (5D)"
        )
    if mode in _WITHOUT_CORNERS:
        return _RESAMPLED[mode, spatial](input, wanted, factors)
    resampled = _ANTIALIASED[mode] if antialias else _RESAMPLED[mode, spatial]
    return resampled(input, wanted, bool(align_corners), factors)


def upsample(
    input: Tensor,
    size: Sizes | None = None,
    scale_factor: Factors | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Interpolate, under the old name of `interpolate`."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor, size: Sizes | None = None, scale_factor: Factors | None = None
) -> Tensor:
    """Interpolate by the element at or before each position."""
    return interpolate(input, size, scale_factor)


def upsample_bilinear(
    input: Tensor, size: Sizes | None = None, scale_factor: Factors | None = None
) -> Tensor:
    """Interpolate two dimensions linearly, keeping the corners in place."""
    return interpolate(input, size, scale_factor, "bilinear", True)


def _lengths(
    input: Tensor, size: Sizes | None, scale_factor: Factors | None, recompute: bool | None
) -> tuple[list[int], list[float] | None]:
    """Return the spatial lengths, and the factors that lead to them where they matter."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        return [_whole(length) for length in _each(input, size, "size")], None
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    factors = _each(input, scale_factor, "scale_factor")
    sizes = input.shape[2:]
    lengths = [math.floor(n * factor) for n, factor in zip(sizes, factors, strict=True)]
    return lengths, None if recompute else [float(factor) for factor in factors]


def _whole(length: Any) -> int:
    """Return a length as an int; TypeError for other numbers."""
    try:
        return operator.index(length)
    except TypeError:
        raise TypeError(
            "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, "
            f"int], but got {length!r} of type {type(length).__name__}"
        ) from None


def _each(input: Tensor, value: Any, name: str) -> list[Any]:
    """Return one number for each spatial dimension."""
    spatial = input.ndim - 2
    if not isinstance(value, list | tuple):
        value = [value] * spatial
    if len(value) != spatial:
        raise ValueError(
            "Input and output must have the same number of spatial dimensions, but got input with "
            f"spatial dimensions of {list(input.shape[2:])} and {name} of {list(value)}"
        )
    return list(value)


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Sample images (N, C, H, W), or volumes, at the points of a grid (N, ..., 2), or (N, ..., 3).

    The coordinates of a point are x first, from -1 at one edge to 1 at the other: at the middle of
    the outermost elements with `align_corners`, else at their outside. Modes: bilinear, nearest,
    bicubic (images only). Outside are zeros, the `border`, or the image's reflection.
    """
    if mode not in _MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in _PADDING_MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    if input.ndim not in (4, 5) or (mode == "bicubic" and input.ndim == 5):
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input, and 4D for mode 'bicubic', but got input "
            f"with sizes {list(input.shape)}"
        )
    if grid.ndim == input.ndim and grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but "
            f"got grid with sizes {list(grid.shape)}"
        )
    if align_corners is None:
        _warn_of_corners("grid_sample")
    check_grid(input, grid)
    sampler = resampling.grid_sampler_2d if input.ndim == 4 else resampling.grid_sampler_3d
    numbers = _MODES.index(mode), _PADDING_MODES.index(padding_mode)
    return sampler(input, grid, *numbers, bool(align_corners))


def check_grid(input: Tensor, grid: Tensor) -> None:
    """Raise RuntimeError for a grid that is not one of points of the images."""
    if grid.ndim != input.ndim:
        raise RuntimeError(
            "grid_sampler(): expected input and grid to have same number of dimensions, but got "
            f"input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if grid.shape[0] != input.shape[0]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with "
            f"sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but "
            f"got grid with sizes {list(grid.shape)}"
        )


@wraps(nn_names.affine_grid)
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Make the grids of affine maps, as `grid_sample` takes them."""
    if align_corners is None:
        _warn_of_corners("affine_grid")
    return nn_names.affine_grid(theta, size, align_corners)


def _warn_of_corners(name: str) -> None:
    warn(
        f"{name}: Default grid_sample and affine_grid behavior is align_corners=False (PyTorch's "
        "before 1.3 was True). Say which one is meant."
    )

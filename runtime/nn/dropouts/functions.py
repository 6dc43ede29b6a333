"""Dropout of whole channels, and dropout that keeps the mean and variance of `selu`."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ...batching.randomness import for_each_example
from ...core.random_generator import generator
from ...core.strides import in_order_of
from ...core.tensor import Tensor, wrap
from ...core.user_warnings import warn
from ...inplace.ops import in_place
from ...kernels.elementwise.checks import floating

_LOWEST: Final = 1.7580993408473766
"""Negative of the limit of `selu` at -inf: scale times alpha of Klambauer (2017)."""


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels of (N, C, L) or (C, L) with probability `p`, and scale the others."""
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input"
        )
    return _of_channels("dropout1d", input, input.ndim == 3, p, training, inplace)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels, the second dimension, with probability `p`, and scale the others."""
    _warn_of_ndim("dropout2d", input.ndim, (3, 4))
    if input.ndim == 3:
        warn(
            "dropout2d: Received a 3-D input, of which it drops the second dimension as channels "
            "(N, C, L): use dropout1d. Without a batch, input.unsqueeze(0) is meant."
        )
    return _of_channels("dropout2d", input, True, p, training, inplace)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels of (N, C, D, H, W) or (C, D, H, W), and scale the others."""
    _warn_of_ndim("dropout3d", input.ndim, (4, 5))
    return _of_channels("dropout3d", input, input.ndim != 4, p, training, inplace)


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Replace elements by the limit of `selu` at -inf; then restore mean and variance."""
    return _restored("alpha_dropout", input, input.shape, p, training, inplace)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Apply `alpha_dropout` to whole channels, the second dimension."""
    shape = _per_channel(input) if training else ()
    return _restored("feature_alpha_dropout", input, shape, p, training, inplace)


@for_each_example
def _of_channels(
    name: str, input: Tensor, is_batch: bool, p: float, training: bool, inplace: bool
) -> Tensor:
    _check(p)
    if not training or p == 0:
        return input
    floating(name, input.array)
    batch = input if is_batch else input.unsqueeze(0)
    kept = generator().random(_per_channel(batch)) >= p
    noise = wrap(kept * np.asarray(1 / (1 - p) if p < 1 else 0.0, input.array.dtype))
    out = in_place(_times, f"{name}_")(batch, noise) if inplace else batch * noise
    if inplace:
        return input
    return out if is_batch else out.squeeze(0)


@for_each_example
def _restored(
    name: str, input: Tensor, shape: tuple[int, ...], p: float, training: bool, inplace: bool
) -> Tensor:
    """Map kept elements, and the constant for others, so that mean and variance are restored."""
    _check(p)
    if not training or p == 0:
        return input
    floating(name, input.array)
    kept = generator().random(shape) >= p
    scale = 1 / math.sqrt((_LOWEST**2 * p + 1) * (1 - p)) if p < 1 else 0.0
    dtype = input.array.dtype
    if shape == input.array.shape:
        kept = in_order_of(input.array, kept)
    factor = wrap((kept * scale).astype(dtype))
    shift = wrap(((kept - 1 + p) * (_LOWEST * scale)).astype(dtype))
    if inplace:
        return in_place(_affine, f"{name}_")(input, factor, shift)
    return _affine(input, factor, shift)


def _per_channel(input: Tensor) -> tuple[int, ...]:
    """Return the shape of one number for each channel of each input."""
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return (*input.shape[:2], *(1,) * (input.ndim - 2))


def _warn_of_ndim(name: str, ndim: int, usual: tuple[int, int]) -> None:
    if ndim not in usual:
        warn(
            f"{name}: Received a {ndim}-D input to {name}, which is deprecated: {usual[0]} or "
            f"{usual[1]} dimensions are expected."
        )


def _check(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _times(input: Tensor, other: Tensor) -> Tensor:
    return input * other


def _affine(input: Tensor, factor: Tensor, shift: Tensor) -> Any:
    return input * factor + shift

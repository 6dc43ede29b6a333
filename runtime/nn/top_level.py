"""Functions of `torch` that `torch.nn.functional` has, too, with other arguments: `gs.dropout`.

At the top level `train` says for every function whether it trains; losses are in `losses.native`.
"""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..dispatch.registry import ops
from . import functional as F
from .composed import normalize_channels
from .resampling.functions import check_grid


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.dropout`."""
    return F.dropout(input, p, train)


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`dropout` in place."""
    return F.dropout(input, p, train, True)


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.dropout2d`: whole channels at once."""
    return F.dropout2d(input, p, train)


def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.alpha_dropout`."""
    return F.alpha_dropout(input, p, train)


def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.feature_alpha_dropout`."""
    return F.feature_alpha_dropout(input, p, train)


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Tensor:
    """`nn.functional.batch_norm`, with the statistics after the weights, and with any `eps`."""
    return normalize_channels(
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Tensor:
    """`nn.functional.instance_norm`, with the statistics after the weights."""
    return F.instance_norm(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def adaptive_max_pool1d(input: Tensor, output_size: Any) -> Any:
    """`nn.functional.adaptive_max_pool1d`, with the positions of the maxima."""
    return F.adaptive_max_pool1d(input, output_size, return_indices=True)


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """`nn.functional.grid_sample`, with numbers for the modes, in one or two dimensions."""
    check_grid(input, grid)
    sample = ops.grid_sampler_2d if input.ndim == 4 else ops.grid_sampler_3d
    sampled: Tensor = sample(input, grid, interpolation_mode, padding_mode, align_corners)
    return sampled

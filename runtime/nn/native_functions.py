"""Functions that PyTorch has beside those of layers: its kernels under their own names."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor, wrap
from ..dispatch.registry import ops
from ..functions.linear_algebra.old_linalg import norm_except_dim
from ..kernels.elementwise.checks import floating
from ..kernels.elementwise.precision import for_sums
from . import bags
from .composed import _renormalize, move


def batch_norm_update_stats(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float
) -> tuple[Tensor, Tensor]:
    """Move running statistics towards those of a batch (N, C, ...), as `batch_norm` does.

    Returns the means of the channels, and their variances by the number of elements, (C,). Of the
    dtype of the running ones; RuntimeError for an input without elements.
    """
    floating("batch_norm_update_stats", input.array)
    if not input.array.size:
        raise RuntimeError(
            "input tensor must have at least one element, but got input_sizes = "
            f"{list(input.shape)}"
        )
    given = next(each for each in (running_mean, running_var, input) if each is not None)
    numbers = for_sums(input.array)
    axes = (0, *range(2, numbers.ndim))
    mean, var = numbers.mean(axes), numbers.var(axes)
    count = numbers.size // mean.size
    unbiased = var * (count / (count - 1) if count > 1 else np.nan)
    move(running_mean, mean, momentum)
    move(running_var, unbiased, momentum)
    return wrap(mean.astype(given.dtype)), wrap(var.astype(given.dtype))


def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Apply `group_norm`; return also means and inverse deviations, (N, group) each.

    `N`, `C` and `HxW` are the batch, the channels and all else of `input`.
    """
    if input.numel() != N * C * HxW:
        raise RuntimeError(
            f"native_group_norm: N * C * HxW = {N * C * HxW} elements expected, but input of shape "
            f"{list(input.shape)} has {input.numel()}"
        )
    result, mean, invstd = ops._native_group_norm(input, group, weight, bias, eps)
    return result, mean.reshape(N, group), invstd.reshape(N, group)


def native_channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Return `channel_shuffle`: the channels of all groups in turns."""
    return ops.channel_shuffle(input, groups)


def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    """Return `g v / |v|`, the norm taken over all dimensions but one."""
    return v * (g / norm_except_dim(v, 2, dim))


def _weight_norm_interface(v: Tensor, g: Tensor, dim: int = 0) -> tuple[Tensor, Tensor]:
    """Return `g v / |v|`, and the norms, which have no gradient of their own."""
    if dim not in (0, v.ndim - 1):
        raise RuntimeError(
            "_weight_norm_interface: fused kernels can only be applied for first or last dim"
        )
    return _weight_norm(v, g, dim), norm_except_dim(v, 2, dim).detach()


def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Scale down, in place, the rows at some indices whose norm is larger than `max_norm`."""
    if input.requires_grad and not input.is_leaf:
        raise RuntimeError("embedding_renorm_ of what was computed has no derivative: detach() it")
    _renormalize(input, np.unique(indices.numpy()), max_norm, norm_type)
    return input


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Apply `nn.functional.embedding_bag`, whose modes are 0, 1 and 2: sum, mean and max.

    Returns also the bag of each index, the sizes of the bags without padding, and for maxima the
    rows that they are in, (bags, embedding_dim), otherwise the sizes again. Of sums they are empty
    and zeros. RuntimeError for arguments that do not fit.
    """
    if mode not in range(len(bags.MODES)):
        raise RuntimeError("`mode` must be sum, mean, or max.")
    for name, given, ndim in (("weight", weight, 2), ("offsets", offsets, 1)):
        if given.ndim != ndim:
            raise RuntimeError(
                f"{name} has to be a {ndim}D Tensor, but got Tensor of dimension {given.ndim}"
            )
    if per_sample_weights is not None and mode:
        raise RuntimeError("embedding_bag: per_sample_weights only supported with mode='sum'")
    indices = indices.reshape(-1)
    found = bags.embedding_bag(
        indices,
        weight,
        offsets,
        scale_grad_by_freq=scale_grad_by_freq and mode != 2,
        mode=bags.MODES[mode],
        sparse=sparse,
        per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset,
        padding_idx=padding_idx,
    )
    numbers, starts = indices.array, offsets.array
    dtype = np.result_type(numbers, starts)
    if mode == 0:
        nothing = np.zeros(starts.size, dtype)
        return found, wrap(np.zeros(0, dtype)), wrap(nothing), wrap(nothing.copy())
    starts = starts[: found.shape[0]]
    bag_of = bags.bags_of_places(starts, numbers.size)
    counted = bag_of >= 0
    if padding_idx is not None:
        counted &= numbers != padding_idx % weight.shape[0]
    sizes = np.bincount(bag_of[counted], minlength=starts.size).astype(dtype)
    rows = sizes.copy()
    if mode == 2:
        values = weight.array[numbers]
        places, is_filled = bags.places_of_largest(values, bag_of, counted, starts.size)
        rows = np.where(is_filled[:, None], np.append(numbers, 0)[places], 0).astype(dtype)
    return found, wrap(bag_of.astype(dtype)), wrap(sizes), wrap(rows)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Convolve (time, batch, channels) with a weight (width, channels, out): (time, batch, out).

    RuntimeError for shapes that do not fit.
    """
    if input.ndim != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.ndim != 3:
        raise RuntimeError(
            "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels."
        )
    if bias.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if input.shape[2] != weight.shape[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if weight.shape[2] != bias.shape[0]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    found = ops.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad)
    return found.permute(2, 0, 1)


def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: Any = None,
) -> Tensor:
    """Multiply groups of matrices; `offs` holds the ends of the groups of what is a plain matrix.

    (G, m, k) by (G, k, n) as `bmm`; (M, k) by (G, k, n): groups of rows, (M, n); (G, m, k) by
    (k, N): groups of columns, (m, N); (m, K) by (K, n): groups of the summed dimension, (G, m, n).
    Rows and columns behind the last end are zeros. RuntimeError for other shapes, or a bias.
    """
    if bias is not None:
        raise RuntimeError("grouped_mm: Bias not supported yet")
    if mat_a.ndim not in (2, 3) or mat_b.ndim not in (2, 3):
        raise RuntimeError("grouped_mm: mat_a and mat_b have to be 2 or 3 dimensional tensors")
    if (offs is None) is not (mat_a.ndim == mat_b.ndim == 3):
        raise RuntimeError(
            "grouped_mm: have to provide offsets if there is a 2d matrix, and only then"
        )
    if mat_a.shape[-1] != mat_b.shape[-2]:
        raise RuntimeError("grouped_mm: contraction dimension of mat_a and mat_b must match")
    found = ops.bmm(mat_a, mat_b) if offs is None else _by_groups(mat_a, mat_b, offs.tolist())
    return found if out_dtype is None else found.to(out_dtype)


def _by_groups(a: Tensor, b: Tensor, ends: list[int]) -> Tensor:
    spans = list(zip([0, *ends], ends, strict=False))
    if a.ndim == b.ndim == 2:
        return ops.stack([a[:, first:end] @ b[first:end] for first, end in spans])
    groups = (b if b.ndim == 3 else a).shape[0]
    if len(ends) != groups:
        raise RuntimeError(f"grouped_mm: {groups} groups of matrices, but {len(ends)} offsets")
    if a.ndim == 2:
        parts = [a[first:end] @ b[g] for g, (first, end) in enumerate(spans)]
        dim, rest = 0, (a.shape[0] - ends[-1], b.shape[-1])
    else:
        parts = [a[g] @ b[:, first:end] for g, (first, end) in enumerate(spans)]
        dim, rest = 1, (a.shape[1], b.shape[1] - ends[-1])
    return ops.cat([*parts, wrap(np.zeros(rest, a.array.dtype))], dim)

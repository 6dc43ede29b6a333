"""Normalisation by mean and variance; statistics keep their dimensions, with length one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...fast.summation import sums
from ..elementwise.checks import ArgumentError, Array, floating, same_dtype
from ..reductions.sums import centred
from ..reductions.unbroadcast import reduce_to


def mean_to_size(self: Array, size: Sequence[int]) -> Any:
    """Means over the dimensions that are of length one in `size`."""
    return over_count(reduce_to(self, (tuple(size), self.dtype)), self.shape)


def over_count(self: Array, shape: Sequence[int]) -> Any:
    """Each element divided by how many elements of a shape it stands for."""
    return self * self.size / math.prod(shape)


def batch_norm(
    self: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    eps: float,
) -> tuple[Any, Any, Any]:
    """The normalised channels, and the mean and inverse standard deviation they were brought by."""
    floating("batch_norm", self)
    if self.ndim < 2:
        raise RuntimeError(f"batch_norm: expected at least 2D input, but got {self.ndim}D")
    per_channel = (1, self.shape[1], *(1,) * (self.ndim - 2))
    for name, given in (
        ("running_mean", running_mean),
        ("running_var", running_var),
        ("weight", weight),
        ("bias", bias),
    ):
        if given is None:
            continue
        same_dtype("batch_norm", self, given)
        if given.shape != per_channel[1:2]:
            raise RuntimeError(f"{name} should contain {per_channel[1]} elements not {given.size}")
    if running_mean is None or running_var is None:
        out, mean, var = _centred(self, (0, *range(2, self.ndim)))
    else:
        mean, var = running_mean.reshape(per_channel), running_var.reshape(per_channel)
        out = self - mean
    invstd = 1 / np.sqrt(var + eps)
    out *= invstd if weight is None else invstd * weight.reshape(per_channel)
    if bias is not None:
        out += bias.reshape(per_channel)
    return out, mean, invstd


def layer_norm(
    self: Array,
    normalized_shape: Sequence[int],
    weight: Array | None,
    bias: Array | None,
    eps: float,
) -> tuple[Any, Any, Any]:
    """The normalised last dimensions, and the mean and inverse standard deviation they had."""
    floating("layer_norm", self)
    shape = tuple(normalized_shape)
    check_normalized_shape(self, shape, weight=weight, bias=bias)
    for given in (weight, bias):
        if given is not None:
            same_dtype("layer_norm", self, given)
    out, mean, var = _centred(self, tuple(range(self.ndim - len(shape), self.ndim)))
    invstd = 1 / np.sqrt(var + eps)
    out *= invstd
    if weight is not None:
        out *= weight
    if bias is not None:
        out += bias
    return out, mean, invstd


def check_normalized_shape(self: Array, shape: tuple[int, ...], **given: Array | None) -> None:
    """Raise RuntimeError unless the last dimensions, and all that is given, have this shape."""
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element"
        )
    if self.shape[-len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, "
            f"{', '.join(map(str, shape))}], but got input of size{list(self.shape)}"
        )
    for name, array in given.items():
        if array is not None and array.shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(array.shape)} and normalized_shape = {list(shape)}"
            )


def group_norm(
    self: Array, num_groups: int, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Any, Any, Any]:
    """The normalised groups of channels, and the mean and inverse standard deviation they had."""
    floating("group_norm", self)
    _check_groups(self, num_groups)
    batch, channels, *sizes = self.shape
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and given.shape != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, "
                f"but got {name} of shape {list(given.shape)} and input of shape {list(self.shape)}"
            )
        if given is not None:
            same_dtype("group_norm", self, given)
    grouped = self.reshape(batch, num_groups, channels // num_groups, *sizes)
    out, mean, var = _centred(grouped, tuple(range(2, grouped.ndim)))
    invstd = 1 / np.sqrt(var + eps)
    out *= invstd
    out = out.reshape(self.shape)
    if weight is not None:
        out *= weight.reshape(-1, *(1,) * len(sizes))
    if bias is not None:
        out += bias.reshape(-1, *(1,) * len(sizes))
    return out, mean, invstd


def _check_groups(self: Array, num_groups: int) -> None:
    if self.ndim < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {self.ndim}"
        )
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if self.shape[1] % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(self.shape)} and num_groups={num_groups}"
        )
    if self.size == num_groups:
        raise ArgumentError(
            "Expected more than 1 value per channel when training, got input size "
            f"{list(self.shape)} for {num_groups} groups"
        )


def _centred(self: Array, axes: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """The numbers less their mean over some dimensions, that mean, and their variance.

    In two passes: the squares are of small numbers.
    """
    count = math.prod(self.shape[axis] for axis in axes)
    deviation, mean = centred(self, axes)
    return deviation, mean, sums(np.square(deviation), axes, True) / count

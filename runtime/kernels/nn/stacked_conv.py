"""Convolutions of several examples, each with a weight of its own: one convolution of groups.

The examples are the first dimensions. Their channels lie side by side in one input, and a group of
the weight reads the channels of one example only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..elementwise.checks import Array
from .conv import IntOrSizes, Sizes, convolution, convolution_input, convolution_weight


def stacked_convolution(
    input: Array,
    weight: Array,
    stride: IntOrSizes,
    padding: IntOrSizes,
    dilation: IntOrSizes,
    transposed: bool,
    output_padding: IntOrSizes,
    groups: int,
    spatial: int,
    fit: str,
) -> Any:
    """The convolution of each example of `input` with its own of `weight`."""
    lead, joined = _examples(input.shape, spatial), groups * _count(input.shape, spatial)
    arrays = _side_by_side(input, spatial), _in_a_row(weight, spatial), None
    sizes = stride, padding, dilation
    out = convolution(*arrays, *sizes, transposed, output_padding, joined, spatial, fit)
    return _apart(out, lead)


def stacked_convolution_input(
    grad_output: Array,
    weight: Array,
    shape: Sequence[int],
    stride: IntOrSizes,
    padding: IntOrSizes,
    dilation: IntOrSizes,
    transposed: bool,
    groups: int,
    spatial: int,
    fit: str,
) -> Any:
    """The gradients of `stacked_convolution` with respect to its inputs, of a shape."""
    lead, count = _examples(shape, spatial), _count(shape, spatial)
    batch, channels, *sizes = shape[len(lead) :]
    found = convolution_input(
        _side_by_side(grad_output, spatial),
        _in_a_row(weight, spatial),
        (batch, count * channels, *sizes),
        stride,
        padding,
        dilation,
        transposed,
        groups * count,
        fit,
    )
    return _apart(found, lead)


def stacked_convolution_weight(
    grad_output: Array,
    input: Array,
    shape: Sequence[int],
    stride: IntOrSizes,
    padding: IntOrSizes,
    dilation: IntOrSizes,
    transposed: bool,
    groups: int,
    spatial: int,
    fit: str,
) -> Any:
    """The gradients of `stacked_convolution` with respect to its weights, of a shape."""
    lead, count = _examples(shape, spatial), _count(shape, spatial)
    channels, *rest = shape[len(lead) :]
    found = convolution_weight(
        _side_by_side(grad_output, spatial),
        _side_by_side(input, spatial),
        (count * channels, *rest),
        stride,
        padding,
        dilation,
        transposed,
        groups * count,
        fit,
    )
    return found.reshape(shape)


def _examples(shape: Sequence[int], spatial: int) -> Sizes:
    """The dimensions in front of those of one example."""
    return tuple(shape[: len(shape) - spatial - 2])


def _count(shape: Sequence[int], spatial: int) -> int:
    return math.prod(_examples(shape, spatial))


def _side_by_side(array: Array, spatial: int) -> Array:
    """(examples, batch, channels, ...) as (batch, examples and channels, ...)."""
    batch, channels, *sizes = array.shape[array.ndim - spatial - 2 :]
    count = _count(array.shape, spatial)
    one = array.reshape(count, batch, channels, *sizes).swapaxes(0, 1)
    return one.reshape(batch, count * channels, *sizes)


def _in_a_row(weight: Array, spatial: int) -> Array:
    """The weights of all examples as those of one convolution."""
    channels, *rest = weight.shape[weight.ndim - spatial - 2 :]
    return weight.reshape(_count(weight.shape, spatial) * channels, *rest)


def _apart(array: Array, lead: Sizes) -> Any:
    """(batch, examples and channels, ...) with the examples in front, in their dimensions."""
    batch, channels, *sizes = array.shape
    count = math.prod(lead)
    each = channels // max(count, 1)
    one = array.reshape(batch, count, each, *sizes).swapaxes(0, 1)
    return one.reshape(*lead, batch, each, *sizes)

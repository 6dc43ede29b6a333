"""Convolutions and pooling, told as steps: windows laid out as columns, and products of these."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from ...kernels.nn.conv import _geometry
from ...kernels.nn.pooling import _flat_indices, _smallest, _windows
from ..program import Value
from . import windows
from .composed import Composition, contiguous, view_of

POSITIONS_MAX: Final = 25
"""Elements of a pooling window up to which each is a step."""


def _padded(new: Composition, x: Value, before: Any, after: Any, number: Any) -> Value:
    """Return an array with more elements around its last dimensions."""
    if not any(before) and not any(after):
        return x
    lead = len(x.shape) - len(before)
    sizes = zip(x.shape[lead:], before, after, strict=True)
    shape = (*x.shape[:lead], *(size + low + high for size, low, high in sizes))
    inner = zip(x.shape[lead:], before, strict=True)
    index = (..., *(slice(low, low + size) for size, low in inner))
    return new.call("array.placed", (x, index, number), (shape, x.dtype))


class _Windows:
    """The windows of an array: (batch, channels and kernel, places), of which none is copied."""

    def __init__(
        self, shape: tuple[int, ...], strides: tuple[int, ...], geometry: Any, places: Any
    ) -> None:
        self.batch = shape[0]
        self.lengths = (shape[1], *geometry.kernel, *places)
        self.rows, self.places = shape[1] * prod(geometry.kernel), prod(places)
        spread = (s * d for s, d in zip(strides[2:], geometry.dilation, strict=True))
        moved = (s * d for s, d in zip(strides[2:], geometry.stride, strict=True))
        self.strides = (strides[1], *spread, *moved)

    def steps(self, dtype: Any) -> tuple[int, ...]:
        """Return the elements from one to the next in each of `lengths`."""
        return tuple(stride // dtype.itemsize for stride in self.strides)

    def columns(self, new: Composition, x: Value) -> Value:
        """Return them in a row."""
        windows = view_of(x, (self.batch, *self.lengths), (x.strides[0], *self.strides))
        shape = (self.batch, self.rows, self.places)
        return new.call("array.reshape", (windows,), (shape, x.dtype))

    def go_by_image(self, channels: int, *values: Value) -> bool:
        """Return whether what is multiplied by a matrix are the columns of an image at a time."""
        alike = len({value.dtype for value in values}) == 1
        in_a_row = all(value.is_contiguous for value in values)
        spans = (self.rows, self.places, channels)
        return alike and in_a_row and windows.fits(spans, values[0].dtype)


def _is_simple(*values: Value, groups: int, transposed: bool) -> bool:
    return groups == 1 and not transposed and all(value.is_contiguous for value in values)


def convolution(new: Composition) -> bool:
    """Tell a convolution: the weight times the columns."""
    x, weight, bias, stride, padding, dilation, transposed, _, groups, _, fit = new.step.args
    if len(x.shape) < 3 or not _is_simple(weight, groups=groups, transposed=transposed):
        return False
    out = new.step.outputs[0]
    geometry = _geometry(weight.shape, stride, padding, dilation, groups, fit)
    x = _padded(new, x, geometry.before, geometry.after, 0)
    seen = _Windows(x.shape, x.strides, geometry, out.shape[2:])
    matrix = contiguous(weight, (weight.shape[0], seen.rows))
    flat = (*out.shape[:2], seen.places), out.dtype
    if seen.go_by_image(out.shape[1], x, weight, out):
        steps = seen.steps(x.dtype)
        product = new.call("array.convolved", (x, matrix, seen.lengths, steps), flat)
    else:
        product = new.call("np.matmul", (matrix, seen.columns(new, x)), flat)
    product = contiguous(product, out.shape)
    if bias is None:
        return new.finish("array.copy", (product,))
    ones = (1,) * (len(out.shape) - 2)
    shifts = view_of(bias, (bias.shape[0], *ones), (*bias.strides, *(0 * one for one in ones)))
    return new.finish("np.add", (product, shifts))


def convolution_weight(new: Composition) -> bool:
    """Tell the gradient of the weight: that of the result times the columns, summed over images."""
    grad, x, shape, stride, padding, dilation, transposed, groups, fit = new.step.args
    if len(x.shape) < 3 or not _is_simple(grad, groups=groups, transposed=transposed):
        return False
    geometry = _geometry(shape, stride, padding, dilation, groups, fit)
    x = _padded(new, x, geometry.before, geometry.after, 0)
    seen = _Windows(x.shape, x.strides, geometry, grad.shape[2:])
    batch, channels = grad.shape[:2]
    flat = contiguous(grad, (batch, channels, seen.places))
    if seen.go_by_image(channels, x, grad):
        # Turned, as the other way round BLAS is slower by two thirds.
        sizes = (seen.rows, channels)
        given = (flat, x, seen.lengths, seen.steps(x.dtype))
        parts = new.call("array.correlated", given, ((batch, *sizes), grad.dtype))
        whole = new.call("np.add.reduce", (parts,), (sizes, grad.dtype), axis=0)
        whole = contiguous(whole, (*shape[1:], channels))
        turned = view_of(whole, tuple(shape), (whole.strides[-1], *whole.strides[:-1]))
        return new.finish("array.copy", (turned,))
    columns = seen.columns(new, x)
    turned = view_of(
        columns, (batch, seen.places, seen.rows), (columns.strides[0], *columns.strides[:0:-1])
    )
    parts = new.call("np.matmul", (flat, turned), ((batch, channels, seen.rows), grad.dtype))
    return new.finish("np.add.reduce", (contiguous(parts, (batch, *shape)),), axis=0)


def convolution_input(new: Composition) -> bool:
    """Tell the gradient of the input: columns of it, added up where windows overlap."""
    grad, weight, shape, stride, padding, dilation, transposed, groups, fit = new.step.args
    is_simple = _is_simple(grad, weight, groups=groups, transposed=transposed)
    if len(shape) < 3 or not is_simple or grad.shape[-1] < 2:
        return False
    geometry = _geometry(weight.shape, stride, padding, dilation, groups, fit)
    around = zip(shape[2:], geometry.before, geometry.after, strict=True)
    sizes = (*shape[:2], *(size + low + high for size, low, high in around))
    strides = np.empty(sizes, grad.dtype).strides
    seen = _Windows(sizes, strides, geometry, grad.shape[2:])
    batch, channels = grad.shape[:2]
    matrix = contiguous(weight, (channels, seen.rows))
    flat = contiguous(grad, (batch, channels, seen.places))
    like = sizes, grad.dtype
    if seen.go_by_image(channels, grad, weight):
        given = (flat, matrix, seen.lengths, seen.steps(grad.dtype))
        if sizes == tuple(shape):
            return new.finish("array.spread_products", given)
        whole = new.call("array.spread_products", given, like)
    else:
        turned = view_of(matrix, (seen.rows, channels), matrix.strides[::-1])
        columns = (batch, seen.rows, seen.places)
        made = new.call("np.matmul", (turned, flat), (columns, grad.dtype))
        parts = contiguous(made, (*shape[:2], *geometry.kernel, *grad.shape[2:]))
        steps = (geometry.dilation, geometry.stride)
        whole = new.call("array.spread", (parts, *steps), like)
    offset = sum(low * step for low, step in zip(geometry.before, strides[2:], strict=True))
    return new.finish("array.copy", (view_of(whole, tuple(shape), strides, offset),))


def max_pool_with_indices(new: Composition) -> bool:
    """Tell a pooling: a comparison for each place in a window, the first of equal ones wins."""
    x, kernel, stride, padding, dilation, ceil_mode, spatial = new.step.args
    pooled = _windows(x.shape, kernel, stride, padding, dilation, ceil_mode, spatial)
    best_out, index_out = new.step.outputs
    if prod(pooled.kernel) > POSITIONS_MAX:
        return False
    padded = _padded(new, x, pooled.padding, pooled.after, _smallest(x.dtype))
    shape, dtype = best_out.shape, x.dtype
    lead = len(shape) - spatial
    steps = padded.strides[lead:]
    moved = (*padded.strides[:lead], *(a * b for a, b in zip(steps, pooled.stride, strict=True)))
    numbers = np.zeros((1,) * spatial, np.int64)
    flat = _flat_indices(pooled, np.broadcast_to(numbers, pooled.places))
    # As wide as the numbers they are chosen with: loops over both then take as many at a time.
    narrow = np.int32 if prod(pooled.sizes) <= np.iinfo(np.int32).max else np.int64
    starts = new.constant(np.ascontiguousarray(flat.astype(narrow)))
    best, place = None, None
    for at in itertools.product(*map(range, pooled.kernel)):
        spots = [a * d for a, d in zip(at, pooled.dilation, strict=True)]
        offset = sum(a * s for a, s in zip(spots, steps, strict=True))
        candidate = view_of(padded, shape, moved, offset)
        far = sum(a * prod(pooled.sizes[nr + 1 :]) for nr, a in enumerate(spots))
        if best is None:
            best = new.call("array.copy", (candidate,), (shape, dtype))
            continue
        larger = new.call("np.greater", (candidate, best), (shape, np.bool_))
        if dtype.kind == "f":
            lost = new.call("np.isnan", (candidate,), (shape, np.bool_))
            larger = new.call("np.logical_or", (larger, lost), (shape, np.bool_))
        best = new.call("np.where", (larger, candidate, best), (shape, dtype))
        before = 0 if place is None else place
        place = new.call("np.where", (larger, far, before), (shape, narrow))
    assert best is not None
    new.finish("array.copy", (best,), of=best_out)
    if place is None:
        return new.finish("array.fill", (index_out, starts), of=index_out)
    place = new.call("np.add", (place, starts), (shape, narrow))
    return new.finish("array.astype", (place, np.dtype(np.int64)), of=index_out)


def max_pool_backward(new: Composition) -> bool:
    """Tell the gradient of a pooling: numbers added at the places that were picked."""
    grad, shape, indices, spatial = new.step.args
    if not grad.is_contiguous or not indices.is_contiguous or indices.dtype != np.int64:
        return False
    image = prod(shape[len(shape) - spatial :])
    planes = prod(shape[: len(shape) - spatial])
    return new.finish("array.add_by_index", (grad, indices, planes, image))


RULES: Final[dict[str, Callable[[Composition], bool]]] = {
    "convolution": convolution,
    "convolution_weight": convolution_weight,
    "convolution_input": convolution_input,
    "max_pool_with_indices": max_pool_with_indices,
    "max_pool_backward": max_pool_backward,
}

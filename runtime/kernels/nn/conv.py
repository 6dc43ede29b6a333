"""Convolutions of any number of spatial dimensions: windows laid out as columns, then one product.

With `y` the convolution of `x` and `w`, the number `sum(g * y)` is linear in each of `x`, `w` and
`g`. The three kernels that the others are made of, `_correlate`, `_spread` and `_correlate_weight`,
are its derivatives with respect to `g`, `x` and `w`. A transposed convolution is `_spread`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...dtypes.kinds import is_symbolic
from ...fast.summation import sums
from ...fast.tuning import CONV_COLUMNS_MAX
from ..elementwise.checks import Array, same_dtype
from ..shape.layout import in_order
from ..shape.padding import padded

Sizes = tuple[int, ...]
IntOrSizes = int | Sequence[int]


class _Geometry(NamedTuple):
    """The geometry of windows: one number a spatial dimension, and the groups of channels."""

    kernel: Sizes
    stride: Sizes
    dilation: Sizes
    before: Sizes
    """Padding in front of each dimension."""
    after: Sizes
    groups: int

    def output_sizes(self, sizes: Sequence[int]) -> Sizes:
        """Count the windows in each dimension."""
        return tuple(
            (size + before + after - dilation * (kernel - 1) - 1) // stride + 1
            for size, kernel, stride, dilation, before, after in zip(sizes, *self[:5], strict=True)
        )

    def input_sizes(self, sizes: Sequence[int], extra: Sequence[int]) -> Sizes:
        """The sizes of a transposed convolution's output, `extra` of them beyond the windows."""
        return tuple(
            (size - 1) * stride - before - after + dilation * (kernel - 1) + more + 1
            for size, more, kernel, stride, dilation, before, after in zip(
                sizes, extra, *self[:5], strict=True
            )
        )


def convolution(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: IntOrSizes,
    padding: IntOrSizes,
    dilation: IntOrSizes,
    transposed: bool,
    output_padding: IntOrSizes,
    groups: int,
    spatial: int,
    fit: str,
) -> Any:
    """The convolution of (batch, channels, ...) with (out, channels / groups, ...), plus a bias."""
    _check_arrays(input, weight, bias, spatial)
    shape = _geometry(weight.shape, stride, padding, dilation, groups, fit)
    _check_channels(input, weight, bias, transposed, groups)
    if transposed:
        extra = _sizes(output_padding, spatial, "output_padding")
        _check_output_padding(extra, shape)
        sizes = shape.input_sizes(input.shape[2:], extra)
        _check_transposed_output(sizes, input)
        out = _spread(input, weight, sizes, shape)
    else:
        _check_output(input, shape)
        out = _correlate(input, weight, shape)
    return out if bias is None else out + bias.reshape(-1, *(1,) * spatial)


def convolution_input(
    grad_output: Array,
    weight: Array,
    shape: Sequence[int],
    stride: IntOrSizes,
    padding: IntOrSizes,
    dilation: IntOrSizes,
    transposed: bool,
    groups: int,
    fit: str,
) -> Array:
    """The gradient of a convolution with respect to its input, which has shape `shape`."""
    geometry = _geometry(weight.shape, stride, padding, dilation, groups, fit)
    if not transposed:
        return _spread(grad_output, weight, shape[2:], geometry)
    # Output padding larger than the stride makes room for windows that no input belongs to.
    found = _correlate(grad_output, weight, geometry)
    return found[(..., *(slice(size) for size in shape[2:]))]


def convolution_weight(
    grad_output: Array,
    input: Array,
    shape: Sequence[int],
    stride: IntOrSizes,
    padding: IntOrSizes,
    dilation: IntOrSizes,
    transposed: bool,
    groups: int,
    fit: str,
) -> Any:
    """The gradient of a convolution with respect to its weight, which has shape `shape`."""
    geometry = _geometry(shape, stride, padding, dilation, groups, fit)
    if not transposed:
        return _correlate_weight(grad_output, input, geometry, grad_output.shape[2:])
    return _correlate_weight(input, grad_output, geometry, input.shape[2:])


def _correlate(x: Array, weight: Array, geometry: _Geometry) -> Any:
    """Each window of `x` times the weight."""
    sizes = geometry.output_sizes(x.shape[2:])
    groups, out_channels = geometry.groups, weight.shape[0]
    rows = weight.reshape(groups, out_channels // groups, -1)
    found = []
    for part in _parts(x, geometry, sizes):
        product = np.matmul(rows, _columns(x[part], geometry, sizes))
        found.append(_batch_first(product, (out_channels, len(x[part]), *sizes)))
    return found[0] if len(found) == 1 else np.concatenate(found)


def _correlate_weight(
    grad_output: Array, x: Array, geometry: _Geometry, sizes: Sequence[int]
) -> Any:
    """Each window of `x` times the gradient at its place, summed over all places."""
    known = geometry.output_sizes(x.shape[2:])
    if any(size > most for size, most in zip(sizes, known, strict=True)):
        # Windows beyond the array would be read from other memory.
        raise RuntimeError(f"a gradient of sizes {list(sizes)} for windows at {list(known)} places")
    found: Any = None
    for part in _parts(x, geometry, sizes):
        columns = _columns(x[part], geometry, sizes)
        product = np.matmul(_rows(grad_output[part], geometry.groups), columns.swapaxes(1, 2))
        found = product if found is None else found + product
    channels = x.shape[1] // geometry.groups
    return found.reshape(grad_output.shape[1], channels, *geometry.kernel)


def _spread(grad_output: Array, weight: Array, sizes: Sequence[int], geometry: _Geometry) -> Any:
    """Each element of the gradient times the weight, added to its window in an array of `sizes`."""
    found = [
        _spread_part(grad_output[part], weight, sizes, geometry)
        for part in _parts(grad_output, geometry, grad_output.shape[2:], weight.shape[1])
    ]
    return found[0] if len(found) == 1 else np.concatenate(found)


def _spread_part(
    grad_output: Array, weight: Array, sizes: Sequence[int], geometry: _Geometry
) -> Array:
    groups, kernel = geometry.groups, geometry.kernel
    batch, out_channels, *places = grad_output.shape
    channels = weight.shape[1] * groups
    rows = weight.reshape(groups, out_channels // groups, -1)
    columns = np.matmul(rows.swapaxes(1, 2), _rows(grad_output, groups))
    columns = columns.reshape(channels, *kernel, batch, *places)
    padded = [
        size + before + after
        for size, before, after in zip(sizes, geometry.before, geometry.after, strict=True)
    ]
    out = np.zeros_like(columns, order="C", shape=(channels, batch, *padded))
    for position in itertools.product(*map(range, kernel)):
        out[(..., *_window_places(position, places, geometry))] += columns[(slice(None), *position)]
    edges = zip(geometry.before, sizes, strict=True)
    inside: list[Any] = [slice(before, before + size) for before, size in edges]
    return _batch_first(out[(..., *inside)], None)


def _window_places(
    position: Sequence[int], places: Sequence[int], geometry: _Geometry
) -> tuple[Any, ...]:
    """Index the element at `position` of every window in the padded array."""
    return tuple(
        slice(at * dilation, at * dilation + stride * (count - 1) + 1, stride)
        for at, count, stride, dilation in zip(
            position, places, geometry.stride, geometry.dilation, strict=True
        )
    )


def _parts(
    x: Array, geometry: _Geometry, places: Sequence[int], channels: int | None = None
) -> list[slice]:
    """Parts of the batch of which the columns are not larger than `CONV_COLUMNS_MAX`.

    There are `channels` a group, by default those of `x`.
    """
    batch = len(x)
    width = x.shape[1] if channels is None else channels * geometry.groups
    each = width * math.prod(geometry.kernel) * math.prod(places)
    if is_symbolic(x.dtype) or each * batch <= CONV_COLUMNS_MAX:
        return [slice(None)]
    step = max(1, CONV_COLUMNS_MAX // each)
    return [slice(start, start + step) for start in range(0, batch, step)]


def _columns(x: Array, geometry: _Geometry, sizes: Sequence[int]) -> Array:
    """The windows of `x` as columns: (groups, channels and kernel, batch and places)."""
    x = padded(x, geometry.before, geometry.after, 0)
    steps = x.strides[2:]
    strides = (
        x.strides[1],
        *(step * dilation for step, dilation in zip(steps, geometry.dilation, strict=True)),
        x.strides[0],
        *(step * stride for step, stride in zip(steps, geometry.stride, strict=True)),
    )
    shape = (x.shape[1], *geometry.kernel, len(x), *sizes)
    windows = as_strided(x, shape, strides, subok=True)
    rows = x.shape[1] // geometry.groups * math.prod(geometry.kernel)
    return windows.reshape(geometry.groups, rows, len(x) * math.prod(sizes))


def _rows(array: Array, groups: int) -> Array:
    """(batch, channels, ...) as (groups, channels, batch and places)."""
    channels, places = array.shape[1], math.prod(array.shape[2:])
    return array.swapaxes(0, 1).reshape(groups, channels // groups, len(array) * places)


def _batch_first(array: Array, shape: Sequence[int] | None) -> Array:
    """The first two dimensions exchanged, laid out in memory as they are read."""
    return in_order((array if shape is None else array.reshape(shape)).swapaxes(0, 1))


def _geometry(
    weight_shape: Sequence[int],
    stride: IntOrSizes,
    padding: IntOrSizes,
    dilation: IntOrSizes,
    groups: int,
    fit: str,
) -> _Geometry:
    """The numbers of a convolution, checked; `fit` is `same`, `valid`, or empty for `padding`."""
    kernel = tuple(weight_shape[2:])
    spatial = len(kernel)
    strides = _sizes(stride, spatial, "stride")
    dilations = _sizes(dilation, spatial, "dilation")
    for name, values in (("stride", strides), ("dilation", dilations)):
        if min(values, default=1) <= 0:
            raise RuntimeError(f"non-positive {name} is not supported")
    before, after = _paddings(fit, _sizes(padding, spatial, "padding"), kernel, strides, dilations)
    return _Geometry(kernel, strides, dilations, before, after, groups)


def _paddings(
    fit: str, padding: Sizes, kernel: Sizes, stride: Sizes, dilation: Sizes
) -> tuple[Sizes, Sizes]:
    """The padding in front of each dimension and behind it."""
    if not fit:
        if min(padding, default=0) < 0:
            raise RuntimeError("negative padding is not supported")
        return padding, padding
    if fit not in ("same", "valid"):
        raise RuntimeError(f"Invalid padding string: '{fit}', it must be 'same' or 'valid'")
    if fit == "valid":
        return (0,) * len(kernel), (0,) * len(kernel)
    if any(step != 1 for step in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    return tuple(t // 2 for t in totals), tuple(t - t // 2 for t in totals)


def _sizes(value: IntOrSizes, spatial: int, name: str) -> Sizes:
    """One number a spatial dimension."""
    if isinstance(value, int):
        return (value,) * spatial
    if len(value) == 1:
        return (value[0],) * spatial
    if len(value) != spatial:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {spatial} values to match "
            f"the convolution dimensions, but got {name}={list(value)}"
        )
    return tuple(value)


def _check_arrays(input: Array, weight: Array, bias: Array | None, spatial: int) -> None:
    if input.ndim != spatial + 2:
        raise RuntimeError(
            f"Expected {spatial + 1}D (unbatched) or {spatial + 2}D (batched) input to "
            f"conv{spatial}d, but got input of size: {list(input.shape)}"
        )
    if weight.ndim != spatial + 2:
        raise RuntimeError(
            f"Expected a {spatial + 2}D weight for conv{spatial}d, but got weight of size: "
            f"{list(weight.shape)}"
        )
    same_dtype("convolution", *(a for a in (input, weight, bias) if a is not None))


def _check_channels(
    input: Array, weight: Array, bias: Array | None, transposed: bool, groups: int
) -> None:
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if not weight.shape[0]:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least 1 at dimension 0, but got "
            f"weight of size {list(weight.shape)} instead"
        )
    if weight.shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size {list(weight.shape)} instead"
        )
    expected = weight.shape[0] if transposed else weight.shape[1] * groups
    if input.shape[1] != expected:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected input"
            f"{list(input.shape)} to have {expected} channels, but got {input.shape[1]} channels "
            "instead"
        )
    outputs = weight.shape[1] * groups if transposed else weight.shape[0]
    if bias is not None and bias.shape != (outputs,):
        raise RuntimeError(
            f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with "
            f"{outputs} elements, but got bias of size {list(bias.shape)} instead"
        )


def _check_output_padding(extra: Sizes, geometry: _Geometry) -> None:
    if min(extra, default=0) < 0:
        raise RuntimeError("negative output_padding is not supported")
    for more, stride, dilation in zip(extra, geometry.stride, geometry.dilation, strict=True):
        if more >= max(stride, dilation):
            raise RuntimeError(
                f"output padding must be smaller than either stride or dilation, but got "
                f"output_padding: {more}, stride: {stride}, dilation: {dilation}"
            )


def _check_output(input: Array, geometry: _Geometry) -> None:
    if min(geometry.kernel, default=1) <= 0:
        raise RuntimeError(f"kernel size should be greater than zero, but got {geometry.kernel}")
    if min(geometry.output_sizes(input.shape[2:]), default=1) <= 0:
        room = [
            size + before + after
            for size, before, after in zip(
                input.shape[2:], geometry.before, geometry.after, strict=True
            )
        ]
        reach = [d * (k - 1) + 1 for d, k in zip(geometry.dilation, geometry.kernel, strict=True)]
        raise RuntimeError(
            f"Calculated padded input size per channel: ({_times(room)}). Kernel size: "
            f"({_times(reach)}). Kernel size can't be greater than actual input size"
        )


def _check_transposed_output(sizes: Sizes, input: Array) -> None:
    if min(sizes, default=1) <= 0:
        raise RuntimeError(
            f"Given input size per channel: ({_times(input.shape[2:])}). Calculated output size "
            f"per channel: ({_times(sizes)}). Output size is too small"
        )


def _times(sizes: Sequence[int]) -> str:
    return " x ".join(map(str, sizes))


def channel_sum(self: Array) -> Any:
    """Sums over everything but dimension 1."""
    return sums(self, (0, *range(2, self.ndim)))


def per_channel(self: Array, shape: Sequence[int]) -> Array:
    """A number for each channel, as a read-only view of a larger shape."""
    return np.broadcast_to(self.reshape(-1, *(1,) * (len(shape) - 2)), shape, subok=True)

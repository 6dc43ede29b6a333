"""Pooling over any number of spatial dimensions, which are the last ones.

The loops run over the positions in a window, of which there are few; each step is one slice of the
whole array. Adaptive pooling has windows that divide a dimension nearly equally.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...dtypes.kinds import is_symbolic
from ..elementwise.arithmetic import truncated_quotient
from ..elementwise.checks import Array, floating
from ..elementwise.precision import for_sums
from ..indexing.gather_scatter import add_at
from ..shape.padding import padded

Sizes = tuple[int, ...]

IntOrSizes = int | Sequence[int]


class _Windows(NamedTuple):
    """The geometry of pooling windows, one number a spatial dimension."""

    kernel: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes
    sizes: Sizes
    """The sizes of the array that is pooled."""
    places: Sizes
    """The number of windows."""

    @property
    def after(self) -> Sizes:
        """The padding at the end; with `ceil_mode` the last window may reach beyond it."""
        return tuple(
            max((place - 1) * stride + dilation * (kernel - 1) + 1 - size - padding, 0)
            for kernel, stride, padding, dilation, size, place in zip(*self, strict=True)
        )

    def positions(self) -> Iterator[tuple[Sizes, tuple[Any, ...]]]:
        """Yield each position in a window, and its index in the padded array for all windows."""
        for position in itertools.product(*map(range, self.kernel)):
            yield (
                position,
                (
                    ...,
                    *(
                        slice(at * dilation, at * dilation + stride * (place - 1) + 1, stride)
                        for at, stride, dilation, place in zip(
                            position, self.stride, self.dilation, self.places, strict=True
                        )
                    ),
                ),
            )


def avg_pool(
    self: Array,
    kernel_size: IntOrSizes,
    stride: IntOrSizes | None,
    padding: IntOrSizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    spatial: int,
) -> Any:
    """Means over windows; of int64 rounded towards zero, of other integers refused."""
    is_whole = self.dtype == np.int64
    if not is_whole:
        floating("avg_pool2d", self)
    windows = _windows(self.shape, kernel_size, stride, padding, 1, ceil_mode, spatial)
    x = padded(for_sums(self), windows.padding, windows.after, 0)
    total: Any = 0
    for _, places in windows.positions():
        total = total + x[places]
    divisor = _divisor(windows, count_include_pad, divisor_override, x.dtype)
    if is_whole:
        return truncated_quotient(total, divisor)
    return (total / divisor).astype(self.dtype, copy=False)


def avg_pool_backward(
    self: Array,
    shape: Sequence[int],
    kernel_size: IntOrSizes,
    stride: IntOrSizes | None,
    padding: IntOrSizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    spatial: int,
) -> Any:
    """The gradient of means, shared among the elements of their windows."""
    windows = _windows(shape, kernel_size, stride, padding, 1, ceil_mode, spatial)
    grad = for_sums(self)
    share = grad / _divisor(windows, count_include_pad, divisor_override, grad.dtype)
    lengths = map(sum, zip(windows.padding, windows.sizes, windows.after, strict=True))
    out = np.zeros_like(share, order="C", shape=(*shape[:-spatial], *lengths))
    for _, places in windows.positions():
        out[places] += share
    edges = zip(windows.padding, windows.sizes, strict=True)
    inside: list[Any] = [slice(before, before + size) for before, size in edges]
    return out[(..., *inside)].astype(self.dtype, copy=False)


def max_pool_with_indices(
    self: Array,
    kernel_size: IntOrSizes,
    stride: IntOrSizes | None,
    padding: IntOrSizes,
    dilation: IntOrSizes,
    ceil_mode: bool,
    spatial: int,
) -> tuple[Any, Array]:
    """The first of the largest elements of each window, and its place in the flattened image."""
    windows = _windows(self.shape, kernel_size, stride, padding, dilation, ceil_mode, spatial)
    x = padded(self, windows.padding, windows.after, _smallest(self.dtype))
    best: Any = None
    position: Any = 0
    smallest = np.min_scalar_type(math.prod(windows.kernel))
    for number, (_, places) in enumerate(windows.positions()):
        candidate = x[places]
        if best is None:
            best = candidate.copy()
            continue
        # A NaN wins, and keeps its place. Later numbers are larger: nothing branches here.
        better = (candidate > best) | np.isnan(candidate)
        best = np.maximum(best, candidate)
        position = np.maximum(position, np.multiply(better, number, dtype=smallest))
    return best, _flat_indices(windows, np.broadcast_to(position, best.shape))


def max_pool_backward(self: Array, shape: Sequence[int], indices: Array, spatial: int) -> Array:
    """Zeros of the given shape with `self` added at the places that a pooling picked."""
    image = math.prod(shape[len(shape) - spatial :])
    planes = math.prod(shape[: len(shape) - spatial])
    rows = indices.reshape(planes, math.prod(indices.shape[len(shape) - spatial :]))
    flat = rows + np.arange(0, planes * image, max(image, 1))[:, None]
    out = np.zeros_like(self, order="C", shape=(planes * image,))
    add_at(out, (flat.reshape(-1),), self.reshape(-1))
    return out.reshape(shape)


def max_pool_take(self: Array, indices: Array, spatial: int) -> Any:
    """The elements that a pooling picked."""
    planes = self.shape[: self.ndim - spatial]
    flat = self.reshape(*planes, math.prod(self.shape[self.ndim - spatial :]))
    rows = indices.reshape(*planes, math.prod(indices.shape[self.ndim - spatial :]))
    chosen = np.take_along_axis(flat, rows, -1)
    return chosen.reshape(indices.shape)


def adaptive_avg_pool(
    self: Array, output_size: int | Sequence[int | None] | None, spatial: int
) -> Any:
    """Average over windows that divide each of the last dimensions nearly equally."""
    floating("adaptive_avg_pool2d", self)
    counts = _adaptive_sizes(self.shape, output_size, spatial)
    means = for_sums(self)
    for dim, count in enumerate(counts, self.ndim - spatial):
        if count != self.shape[dim]:
            members, lengths = _adaptive_windows(means, self.shape[dim], count)
            means = _along(members, means, dim) / _in_line(lengths, self.ndim, dim)
    return means.astype(self.dtype, order="C")


def adaptive_avg_pool_backward(self: Array, shape: Sequence[int], spatial: int) -> Any:
    """The gradient of such means, shared among the elements of their windows."""
    unpooled = self.ndim - spatial
    if unpooled < 1 or self.shape[:unpooled] != tuple(shape[:unpooled]):
        raise RuntimeError(f"a gradient of shape {self.shape} for an input of shape {shape}")
    shares = for_sums(self)
    for dim in range(self.ndim - spatial, self.ndim):
        if self.shape[dim] != shape[dim]:
            members, lengths = _adaptive_windows(shares, shape[dim], self.shape[dim])
            shares = _along(members.T, shares / _in_line(lengths, self.ndim, dim), dim)
    return shares.astype(self.dtype, order="C")


def _adaptive_windows(like: Array, size: int, count: int) -> tuple[Array, Array]:
    """Return a matrix of 0 and 1 for the elements of each window, and the windows' lengths."""
    numbers = np.arange(count)
    starts, ends = numbers * size // max(count, 1), -(-(numbers + 1) * size // max(count, 1))
    places = np.arange(size)
    members = (places >= starts[:, None]) & (places < ends[:, None])
    # Beside symbols numbers stay integers, which are exact.
    dtype = np.int64 if is_symbolic(like.dtype) else like.dtype
    return members.astype(dtype), (ends - starts).astype(dtype)


def _along(matrix: Array, array: Array, dim: int) -> Array:
    """The product of a matrix with each line of an array along a dimension."""
    return np.matmul(array.swapaxes(dim, -1), matrix.T).swapaxes(dim, -1)


def _in_line(lengths: Array, ndim: int, dim: int) -> Array:
    """A vector along a dimension of an array."""
    return lengths.reshape(-1, *(1,) * (ndim - dim - 1))


def _adaptive_sizes(
    shape: Sequence[int], output_size: int | Sequence[int | None] | None, spatial: int
) -> list[int]:
    """Return the number of windows in each dimension; None means the number of elements."""
    if len(shape) not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"adaptive_avg_pool{spatial}d(): Expected {spatial + 1}D or {spatial + 2}D tensor, but "
            f"got {list(shape)}"
        )
    wanted = output_size if isinstance(output_size, Sequence) else (output_size,) * spatial
    if len(wanted) != spatial:
        raise RuntimeError(f"adaptive_avg_pool{spatial}d(): output_size must be {spatial}")
    if any(count is not None and count < 0 for count in wanted):
        raise RuntimeError("adaptive_avg_pool: elements of output_size must be greater or equal 0")
    sizes = shape[len(shape) - spatial :]
    if 0 in sizes:
        raise RuntimeError(
            f"adaptive_avg_pool{spatial}d(): Expected input to have non-zero size for non-batch "
            f"dimensions, but input has sizes {list(shape)}"
        )
    return [size if count is None else count for count, size in zip(wanted, sizes, strict=True)]


def _flat_indices(windows: _Windows, position: Array) -> Array:
    """From the number of a position in each window to its place in the image before padding."""
    start: Any = 0
    within: Any = 0
    for axis, kernel in enumerate(windows.kernel):
        step = math.prod(windows.sizes[axis + 1 :])
        starts = np.arange(windows.places[axis]) * windows.stride[axis] - windows.padding[axis]
        behind = (1,) * (len(windows.kernel) - axis - 1)
        start = start + (starts * step).reshape(-1, *behind)
        within = within + (np.arange(kernel) * (windows.dilation[axis] * step)).reshape(-1, *behind)
    return np.asarray(start + within.reshape(-1)[position], np.int64)


def _smallest(dtype: Any) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _divisor(
    windows: _Windows, count_include_pad: bool, divisor_override: int | None, dtype: Any
) -> Any:
    """Count the elements of each window."""
    if divisor_override is not None:
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        return divisor_override
    counts: Any = 1
    for kernel, stride, padding, _, size, place in zip(*windows, strict=True):
        starts = np.arange(place) * stride - padding
        ends = np.minimum(starts + kernel, size + padding)
        if not count_include_pad:
            starts, ends = np.maximum(starts, 0), np.minimum(ends, size)
        counts = np.multiply.outer(counts, ends - starts)
    return counts if is_symbolic(dtype) else counts.astype(dtype)


def _windows(
    shape: Sequence[int],
    kernel_size: IntOrSizes,
    stride: IntOrSizes | None,
    padding: IntOrSizes,
    dilation: IntOrSizes,
    ceil_mode: bool,
    spatial: int,
) -> _Windows:
    """The windows of an array of this shape; no stride means that of windows side by side."""
    if len(shape) not in (spatial + 1, spatial + 2) or 0 in shape[-spatial - 1 :]:
        raise RuntimeError(
            f"pool{spatial}d: Expected {spatial + 1}D or {spatial + 2}D (batch mode) tensor with "
            f"optional 0 dim batch size for input, but got: {list(shape)}"
        )
    kernel = _each(kernel_size, spatial, "kernel_size")
    steps = kernel if stride is None or stride in ((), []) else _each(stride, spatial, "stride")
    pads = _each(padding, spatial, "padding")
    spreads = _each(dilation, spatial, "dilation")
    for name, values in (("kernel_size", kernel), ("stride", steps), ("dilation", spreads)):
        if min(values) <= 0:
            raise RuntimeError(f"{name} must be greater than zero, but got {list(values)}")
    for pad, length, spread in zip(pads, kernel, spreads, strict=True):
        if pad < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {pad}")
        if pad > ((length - 1) * spread + 1) // 2:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={pad}, kernel_size={length} and dilation={spread}"
            )
    sizes = tuple(shape[len(shape) - spatial :])
    places = tuple(
        _count(*numbers, ceil_mode)
        for numbers in zip(sizes, kernel, steps, pads, spreads, strict=True)
    )
    if min(places) <= 0:
        raise RuntimeError(
            f"Given input size: {list(sizes)}. Calculated output size: {list(places)}. Output size "
            "is too small"
        )
    return _Windows(kernel, steps, pads, spreads, sizes, places)


def _count(size: int, kernel: int, stride: int, pad: int, dilation: int, ceil_mode: bool) -> int:
    """Count the windows in one dimension."""
    room = size + 2 * pad - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return room // stride + 1
    count = -(-room // stride) + 1
    # A window that would start in the padding at the end is left out.
    return count - 1 if (count - 1) * stride >= size + pad else count


def _each(value: IntOrSizes, spatial: int, name: str) -> Sizes:
    """One number a spatial dimension."""
    if isinstance(value, int):
        return (value,) * spatial
    if len(value) == 1:
        return (value[0],) * spatial
    if len(value) != spatial:
        raise RuntimeError(f"pool{spatial}d: {name} must either be a single int, or {spatial} ints")
    return tuple(value)


def adaptive_max_pool(
    self: Array, output_size: int | Sequence[int], spatial: int
) -> tuple[Any, Array]:
    """The first of the largest elements of each window, and its place in the flattened image."""
    counts = (output_size,) * spatial if isinstance(output_size, int) else tuple(output_size)
    _check_adaptive(self, counts, spatial)
    sizes = self.shape[-spatial:]
    members = [_members(size, count) for size, count in zip(sizes, counts, strict=True)]
    steps = [math.prod(sizes[axis + 1 :]) for axis in range(spatial)]
    best: Any = np.empty_like(self, order="C", shape=(*self.shape[:-spatial], *counts))
    places = np.zeros(best.shape, np.int64)
    for number, position in enumerate(itertools.product(*(range(len(each)) for each in members))):
        mesh = np.ix_(*(each[at] for each, at in zip(members, position, strict=True)))
        flat: Any = sum(part * step for part, step in zip(mesh, steps, strict=True))
        candidate = self[(..., *mesh)]
        if not number:
            best, places = candidate, np.broadcast_to(flat, candidate.shape)
            continue
        better = (candidate > best) | np.isnan(candidate)
        best, places = np.maximum(best, candidate), np.where(better, flat, places)
    return best, places


def _members(size: int, count: int) -> Array:
    """A row for each position in a window; a shorter window has its last element more than once."""
    numbers = np.arange(count)
    starts, ends = numbers * size // max(count, 1), -(-(numbers + 1) * size // max(count, 1))
    longest = np.max(ends - starts, initial=0)
    return np.minimum(starts + np.arange(longest)[:, None], ends - 1)


def _check_adaptive(self: Array, counts: tuple[int, ...], spatial: int) -> None:
    name = f"adaptive_max_pool{spatial}d"
    floating(name, self)
    if self.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"{name}(): Expected {spatial + 1}D or {spatial + 2}D tensor, but got: "
            f"{list(self.shape)}"
        )
    if 0 in self.shape[self.ndim - spatial - 1 :]:
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input "
            f"has sizes {list(self.shape)}"
        )
    if len(counts) != spatial or min(counts) < 0:
        raise RuntimeError(
            f"{name}(): output_size must be {spatial} numbers that are not negative, but got "
            f"{list(counts)}"
        )


def max_unpool(self: Array, indices: Array, output_size: Sequence[int]) -> Array:
    """Zeros, with the elements at their places in flattened images of `output_size`."""
    spatial = len(output_size)
    if self.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"Input to max_unpooling{spatial}d should be a {spatial + 1}d or {spatial + 2}d "
            f"Tensor, but got a tensor with {self.ndim} dimensions."
        )
    if 0 in self.shape[-spatial - 1 :]:
        raise RuntimeError(
            f"max_unpooling{spatial}d: Expected input to have non-zero size for non-batch "
            f"dimensions, but got {list(self.shape)}"
        )
    if indices.dtype != np.int64:
        raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype}")
    if indices.shape != self.shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(self.shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )
    image = math.prod(output_size)
    wrong = indices[(indices < 0) | (indices >= image)]
    if wrong.size:
        raise RuntimeError(
            f"Found an invalid max index: {wrong[0]} (output volumes are of size "
            f"{'x'.join(map(str, output_size))}"
        )
    head = self.shape[: self.ndim - spatial]
    out = np.zeros_like(self, order="C", shape=(*head, image))
    if self.size:
        np.put_along_axis(out, indices.reshape(*head, -1), self.reshape(*head, -1), -1)
    return out.reshape(*head, *output_size)

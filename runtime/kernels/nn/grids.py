"""Images read at places that a grid names, and grids that an affine map makes.

A grid has the shape (N, ..., D): coordinates of D dimensions, the last of them first, from -1 at
one edge of an image to 1 at the other. Kinds of interpolation and of padding are PyTorch's numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from ...dtypes.kinds import is_symbolic
from ..elementwise.checks import ArgumentError, Array, floating, same_dtype
from ..indexing.gather_scatter import add_at

CUBIC: Final = 2
ZEROS, BORDER = 0, 1

_OFFSETS: Final = {0: (0, 1), 1: (0,), CUBIC: (-1, 0, 1, 2)}
"""The neighbours that count: linear, nearest, cubic."""

_FAR: Final = 1 << 30
"""Outside of every image."""


def grid_places(
    self: Array, size: Sequence[int], kind: int, padding_mode: int, align_corners: bool
) -> Array:
    """The coordinates counted in elements, brought into the image unless zeros are around it."""
    out = np.empty_like(self)
    for number, length in enumerate(reversed(size)):
        place = _in_elements(self[..., number], length, align_corners)
        if kind != CUBIC:  # whose neighbours are brought in one by one
            place = _inside(place, length, padding_mode, align_corners)
        out[..., number] = np.rint(place) if kind == 1 else place
    return out


def grid_slopes(
    self: Array, size: Sequence[int], kind: int, padding_mode: int, align_corners: bool
) -> Array:
    """The derivatives of `grid_places`; zero at and beyond the border that places are kept from."""
    out = np.empty_like(self)
    for number, length in enumerate(reversed(size)):
        place = _in_elements(self[..., number], length, align_corners)
        slope: Any = (length - 1) / 2 if align_corners else length / 2
        if kind != CUBIC and padding_mode != ZEROS:
            if padding_mode != BORDER:
                place, sign = _reflected(place, length, align_corners)
                slope = slope * sign
            slope = slope * ((place > 0) & (place < length - 1))
        out[..., number] = slope
    return out


def grid_neighbours(
    self: Array, places: Array, kind: int, padding_mode: int, align_corners: bool
) -> Array:
    """The elements around each place: (N, C, neighbours of each dimension ..., ...)."""
    _check(self, places)
    flat, known = _positions(self.shape, places, kind, padding_mode, align_corners)
    batch, channels, *sizes = self.shape
    planes = self.reshape(batch, channels, math.prod(sizes))
    index = np.where(known, flat, 0).reshape(batch, 1, math.prod(flat.shape[1:]))
    found = np.take_along_axis(planes, index, 2)
    found = found.reshape(batch, channels, *flat.shape[1:])
    return np.where(known[:, None], found, 0)


def grid_neighbours_backward(
    self: Array,
    shape: Sequence[int],
    places: Array,
    kind: int,
    padding_mode: int,
    align_corners: bool,
) -> Array:
    """Each neighbour added to the element that it was."""
    flat, known = _positions(shape, places, kind, padding_mode, align_corners)
    image = math.prod(shape[2:])
    numbers = np.arange(shape[0] * shape[1]).reshape(*shape[:2], *(1,) * (flat.ndim - 1))
    everywhere = np.broadcast_to(known[:, None], self.shape)
    out = np.zeros_like(self, order="C", shape=(math.prod(shape),))
    add_at(out, ((numbers * image + flat[:, None])[everywhere],), self[everywhere])
    return out.reshape(shape)


def affine_grid(self: Array, size: Sequence[int], align_corners: bool) -> Array:
    """The places to which affine maps take those of an image of `size`, which is (N, C, ...)."""
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {list(size)}"
        )
    if self.dtype.kind in "iub":
        raise ArgumentError(f"Expected theta to have floating point type, but got {self.dtype}")
    spatial = len(size) - 2
    if self.shape != (size[0], spatial, spatial + 1):
        raise ArgumentError(
            f"Expected a batch of affine matrices of shape {size[0]}x{spatial}x{spatial + 1} for "
            f"size {list(size)}. Got {list(self.shape)}."
        )
    if min(size) <= 0:
        raise ArgumentError(f"Expected non-zero, positive output size. Got {list(size)}")
    base = _base(size[2:], align_corners, self.dtype)
    return np.matmul(base, self.swapaxes(1, 2)).reshape(size[0], *size[2:], spatial)


def affine_grid_backward(self: Array, align_corners: bool) -> Array:
    """The gradient of the affine maps that made a grid of the shape of `self`."""
    base = _base(self.shape[1:-1], align_corners, self.dtype)
    rows = self.reshape(self.shape[0], len(base), self.shape[-1])
    return np.matmul(rows.swapaxes(1, 2), base)


def _base(sizes: Sequence[int], align_corners: bool, dtype: Any) -> Array:
    """Each place of an image as a row, the last dimension first, with a one behind it."""
    real = np.float64 if is_symbolic(dtype) else dtype
    lines = []
    for size in sizes:
        line = _line(size, np.dtype(real))
        lines.append(line if align_corners else line * (size - 1) / size)
    columns = [mesh.reshape(-1) for mesh in np.meshgrid(*lines, indexing="ij")]
    return np.stack([*columns[::-1], np.ones(math.prod(sizes), real)], -1)


def _line(size: int, dtype: Any) -> Any:
    """Equal steps from -1 to 1, with PyTorch's roundings: one for each element.

    A place that is off by one rounding may lie on the other side of a pixel's middle. The step is
    rounded, and `step * i - 1` once, as by a fused multiply-add; the second half is mirrored.
    """
    if size < 2:
        return np.zeros(1, dtype)
    step = np.float64(dtype.type(2) / dtype.type(size - 1))
    count = np.arange(size - size // 2, dtype=np.float64)
    upper = np.float64(np.float32(step))  # few enough digits that products are exact
    first = upper * count
    total = first - 1
    # What rounding took off the sum (Knuth's two-sum), and the rest of the product.
    back = total - first
    lost = (first - (total - back)) + (-1 - back)
    half = (total + (lost + (step - upper) * count)).astype(dtype)
    return np.concatenate((half[: size // 2], -half[::-1]))


def _in_elements(x: Array, length: int, align_corners: bool) -> Any:
    return (x + 1) * ((length - 1) / 2) if align_corners else (x + 1) * (length / 2) - 0.5


@np.errstate(all="ignore")
def _inside(place: Array, length: int, padding_mode: int, align_corners: bool) -> Any:
    if padding_mode == ZEROS:
        return place
    if padding_mode != BORDER:
        place, _ = _reflected(place, length, align_corners)
    return np.clip(place, 0, length - 1)


def _reflected(place: Array, length: int, align_corners: bool) -> tuple[Any, Any]:
    """A place mirrored at the edges until it is between them, and the sign of its direction.

    The edges are the outermost elements, or else half an element beyond.
    """
    low, span = (0.0, length - 1) if align_corners else (-0.5, length)
    if not span:
        return place * 0, np.zeros_like(place)
    distance = np.abs(place - low)
    flips = np.floor(distance / span)
    rest = distance - flips * span
    is_even = flips % 2 == 0
    sign = np.where(place < low, -1, 1) * np.where(is_even, 1, -1)
    return np.where(is_even, rest, span - rest) + low, sign


def _positions(
    shape: Sequence[int], places: Array, kind: int, padding_mode: int, align_corners: bool
) -> tuple[Array, Array]:
    """Index the neighbours of each point in a flattened image, and tell which are inside it."""
    flat, known = np.zeros((), np.int64), np.ones((), np.bool_)
    spatial = places.shape[-1]
    for axis, neighbour in enumerate(_neighbours(shape, places, kind)):
        length = shape[2 + axis]
        if kind == CUBIC:
            inside = _inside(neighbour.astype(np.float64), length, padding_mode, align_corners)
            neighbour = inside.astype(np.int64)
        # Of the dimensions of neighbours this one has its own.
        spread = neighbour.reshape(
            len(places),
            *(len(_OFFSETS[kind]) if n == axis else 1 for n in range(spatial)),
            *places.shape[1:-1],
        )
        flat = flat * length + spread
        known = known & (spread >= 0) & (spread < length)
    return flat, known


def _neighbours(shape: Sequence[int], places: Array, kind: int) -> Iterator[Array]:
    """For each dimension of the image the numbers of the neighbours, (N, neighbours, ...)."""
    for number in itertools.islice(reversed(range(places.shape[-1])), len(shape) - 2):
        first = np.floor(places[..., number])
        with np.errstate(all="ignore"):
            near = np.clip(first, -_FAR, _FAR)
        whole = np.where(np.isnan(first), -_FAR, near).astype(np.int64)
        yield np.stack([whole + offset for offset in _OFFSETS[kind]], 1)


def _check(self: Array, grid: Array) -> None:
    floating("grid_sampler", self)
    same_dtype("grid_sampler", self, grid)
    spatial = self.ndim - 2
    if grid.ndim != self.ndim or len(self) != len(grid) or grid.shape[-1] != spatial:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, as many dimensions, "
            f"and one coordinate in grid for each spatial dimension, but got input with sizes "
            f"{list(self.shape)} and grid with sizes {list(grid.shape)}"
        )
    if 0 in self.shape[2:]:
        raise RuntimeError(
            "grid_sampler(): expected input to have non-empty spatial dimensions, but "
            f"input has sizes {list(self.shape)}"
        )

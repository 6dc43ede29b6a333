"""Maxima over windows that divide a dimension nearly equally, and maxima back at their places."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..elementwise.checks import Array, floating


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

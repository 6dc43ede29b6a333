"""Arrays with something around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dtypes.number_conversion import converted
from ..elementwise.checks import Array
from ..elementwise.precision import for_sums
from ..indexing.gather_scatter import add_rows


def padded(x: Array, before: Sequence[int], after: Sequence[int], value: Any) -> Array:
    """The last dimensions padded with a number; the array itself where nothing is to be added."""
    if not any(before) and not any(after):
        return x
    head = x.ndim - len(before)
    lengths = [sum(parts) for parts in zip(before, x.shape[head:], after, strict=True)]
    out = np.full_like(x, value, order="C", shape=(*x.shape[:head], *lengths))
    sizes = zip(before, x.shape[head:], strict=True)
    inside: list[Any] = [slice(start, start + size) for start, size in sizes]
    out[(..., *inside)] = x
    return out


def constant_pad_nd(self: Array, pad: Sequence[int], value: Any) -> Array:
    """A number around the last dimensions; `pad` has two numbers each, from the last dimension on.

    Negative numbers cut elements off.
    """
    pairs = _pairs(self, pad)
    keep: tuple[Any, ...] = tuple(
        slice(max(-before, 0), size - max(-after, 0))
        for (before, after), size in zip(pairs, self.shape, strict=True)
    )
    for (before, after), size in zip(pairs, self.shape, strict=True):
        if size < max(-before, 0) + max(-after, 0):
            raise RuntimeError("narrow(): length must be non-negative.")
    kept, value = self[(*keep, ...)], converted(value, self.dtype)
    firsts = [max(first, 0) for first, _ in pairs]
    out = padded(kept, firsts, [max(last, 0) for _, last in pairs], value)
    return out.copy() if out is kept else out


def constant_unpad_nd(self: Array, pad: Sequence[int]) -> Array:
    """Remove the padding of the last dimensions; zeros where padding was negative."""
    return constant_pad_nd(self, [-each for each in pad], 0)


def pad_by_index(self: Array, pad: Sequence[int], mode: str) -> Any:
    """The last dimensions continued by their own elements: `reflect`, `replicate` or `circular`."""
    for dim, index, _ in _sources(self.shape, pad, mode):
        self = np.take(self, index, dim)
    return self.copy()


def pad_by_index_backward(self: Array, shape: Sequence[int], pad: Sequence[int], mode: str) -> Any:
    """Each element of a padded array added to the one that it repeats."""
    total = for_sums(self)
    for dim, index, inside in _sources(shape, pad, mode):
        padded = total.swapaxes(0, dim)
        out = np.zeros_like(padded, order="C", shape=(shape[dim], *padded.shape[1:]))
        out[index[inside]] = padded[inside]
        for border in (slice(inside.start), slice(inside.stop, None)):
            add_rows(out, index[border], padded[border])
        total = out.swapaxes(0, dim)
    return total.astype(self.dtype, order="C")


def _sources(shape: Sequence[int], pad: Sequence[int], mode: str) -> list[tuple[int, Array, slice]]:
    """For each padded dimension, the place each element comes from, and which are in their own."""
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    spatial = len(pad) // 2
    if len(pad) % 2 or spatial not in (1, 2, 3) or len(shape) not in (spatial + 1, spatial + 2):
        raise NotImplementedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now"
        )
    if mode != "circular" and 0 in shape[-spatial - 1 :]:
        raise RuntimeError(
            f"Expected {spatial + 1}D or {spatial + 2}D (batch mode) tensor with possibly 0 batch "
            f"size and other non-zero dimensions for input, but got: {list(shape)}"
        )
    found = []
    for number in range(spatial):
        dim, before, after = len(shape) - 1 - number, pad[2 * number], pad[2 * number + 1]
        if before or after:
            index = _source(shape[dim], before, after, mode)
            inside = slice(max(before, 0), index.size - max(after, 0))
            found.append((dim, index, inside))
    return found


def _source(size: int, before: int, after: int, mode: str) -> Array:
    if mode == "reflect" and max(before, after) >= size:
        raise RuntimeError(
            "Padding size should be less than the corresponding input dimension, but got: padding "
            f"({before}, {after}) at an input of size {size}"
        )
    if mode == "circular" and max(before, after) > size:
        raise RuntimeError("Padding value causes wrapping around more than once.")
    if not size or size + before + after <= 0:
        raise RuntimeError(f"padding ({before}, {after}) leaves nothing of an input of size {size}")
    places = np.arange(-before, size + after)
    if mode == "replicate":
        return np.clip(places, 0, size - 1)
    if mode == "circular":
        # The circle is closed after negative padding has cut its part off.
        kept = np.arange(max(-before, 0), size - max(-after, 0))
        return kept[np.arange(-max(before, 0), kept.size + max(after, 0)) % kept.size]
    mirrored = np.abs(places)
    return np.where(mirrored < size, mirrored, 2 * (size - 1) - mirrored)


def _pairs(self: Array, pad: Sequence[int]) -> list[tuple[int, int]]:
    """The padding before and after each dimension, from the first on."""
    if len(pad) % 2:
        raise RuntimeError("Length of pad must be even")
    if len(pad) > 2 * self.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input"
        )
    pairs = [(pad[at], pad[at + 1]) for at in range(0, len(pad), 2)]
    return [(0, 0)] * (self.ndim - len(pairs)) + pairs[::-1]

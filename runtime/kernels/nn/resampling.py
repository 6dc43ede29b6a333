"""Images in another resolution: each output is a sum of a few inputs, one dimension at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...dtypes.promotion import type_name
from ..elementwise.checks import Array
from ..elementwise.precision import for_sums
from ..indexing.gather_scatter import add_rows

Taps = list[tuple[Array, Array | None]]
"""The inputs of each output, and their weights; None means ones."""

_REACH: Final = {"linear": 1.0, "cubic": 2.0}
"""The radius of an interpolating function's support."""


def resample(
    self: Array,
    size: Sequence[int],
    kind: str,
    align_corners: bool,
    scales: Sequence[float] | None,
    antialias: bool,
) -> Any:
    """The last dimensions of (N, C, ...) with other lengths.

    Of bytes the last dimension comes first, and is rounded before the other, as in PyTorch.
    """
    _check(self, size, kind)
    out: Any = self
    is_rounded = self.dtype == np.uint8 and kind in _REACH
    dims = list(enumerate(size, 2))
    for dim, count in reversed(dims) if is_rounded else dims:
        scale = None if scales is None else scales[dim - 2]
        total: Any = None
        for places, weights in _taps(
            self.shape[dim], count, kind, align_corners, scale, antialias, self.dtype
        ):
            part = np.take(out, places, dim)
            if weights is not None:
                part = part * weights.reshape(-1, *(1,) * (self.ndim - dim - 1))
            total = part if total is None else total + part
        out = np.clip(np.floor(total + 0.5), 0, 255) if is_rounded else total
    return out.astype(self.dtype, copy=False)


def resample_backward(
    self: Array,
    size: Sequence[int],
    kind: str,
    align_corners: bool,
    scales: Sequence[float] | None,
    antialias: bool,
) -> Any:
    """Each output added to the inputs that it is made of, which have the lengths `size`."""
    out: Any = for_sums(self)
    for dim, length in enumerate(size, 2):
        scale = None if scales is None else scales[dim - 2]
        rows = out.swapaxes(0, dim)
        total = np.zeros_like(rows, order="C", shape=(length, *rows.shape[1:]))
        for places, weights in _taps(
            length, self.shape[dim], kind, align_corners, scale, antialias, self.dtype
        ):
            share = rows
            if weights is not None:
                share = rows * weights.reshape(-1, *(1,) * (self.ndim - 1))
            add_rows(total, places, share)
        out = total.swapaxes(0, dim)
    return out.astype(self.dtype, order="C")


def _taps(
    size: int,
    count: int,
    kind: str,
    align_corners: bool,
    scale: float | None,
    antialias: bool,
    dtype: Any,
) -> Taps:
    """`scale` is by how much an image grows, where that is not the quotient of the lengths."""
    if kind.startswith("nearest"):
        return [(_nearest(size, count, kind, scale), None)]
    if kind == "linear" and size == count and not antialias:
        return [(np.arange(count), None)]
    real: Any = np.float32 if dtype in (np.float16, np.float32) else np.float64
    if align_corners:
        step = real((size - 1) / (count - 1) if count > 1 else 0)
    else:
        step = real(1 / scale if scale else size / count)
    if antialias:
        return _averages(size, np.arange(count, dtype=real), step, kind)
    shift = real(0 if align_corners else 0.5)
    source = (np.arange(count, dtype=real) + shift) * step - shift
    if kind == "linear":
        source = np.maximum(source, 0)
    # As integers: in single precision `size - 1` may be rounded up.
    first = np.minimum(np.floor(source).astype(np.int64), size - 1)
    t = np.clip(source - first.astype(real), 0, 1)
    if kind == "linear":
        return [(first, 1 - t), (np.minimum(first + 1, size - 1), t)]
    return [
        (np.clip(first + offset, 0, size - 1), _cubic(t - real(offset), real(-0.75)))
        for offset in (-1, 0, 1, 2)
    ]


def _nearest(size: int, count: int, kind: str, scale: float | None) -> Array:
    """In single precision, as PyTorch has it: which of two is nearer may be a matter of rounding.

    Not so where `nearest` keeps or doubles a length.
    """
    numbers = np.arange(count)
    if kind == "nearest" and count in (size, 2 * size):
        return numbers * size // count
    step = np.float32(1 / scale if scale else np.float32(size) / np.float32(count))
    middle = np.float32(0.5 if kind == "nearest-exact" else 0)
    source = np.floor((numbers.astype(np.float32) + middle) * step)
    return np.minimum(source.astype(np.int64), size - 1)


def _cubic(x: Array, a: Any) -> Array:
    """Keys' function (1981), with the slope `a` at one."""
    x = np.abs(x)
    inner = ((a + 2) * x - (a + 3)) * x * x + 1
    return np.where(x <= 1, inner, ((a * x - 5 * a) * x + 8 * a) * x - 4 * a)


def _averages(size: int, numbers: Array, step: Any, kind: str) -> Taps:
    """Weighted means over all the inputs that an output stands for, against aliasing."""
    stretch = max(step, step.dtype.type(1))
    reach = _REACH[kind] * stretch
    centre = (numbers + numbers.dtype.type(0.5)) * step
    starts = np.maximum((centre - reach + 0.5).astype(np.int64), 0)
    ends = np.minimum((centre + reach + 0.5).astype(np.int64), size)
    places = starts + np.arange(np.max(ends - starts, initial=0))[:, None]
    distance = ((places - centre + 0.5) / stretch).astype(numbers.dtype)
    if kind == "linear":
        weights = np.maximum(1 - np.abs(distance), 0)
    else:
        weights = np.where(np.abs(distance) < 2, _cubic(distance, distance.dtype.type(-0.5)), 0)
    weights = np.where(places < ends, weights, 0)
    return list(zip(np.minimum(places, size - 1), weights / weights.sum(0), strict=True))


def _check(self: Array, size: Sequence[int], kind: str) -> None:
    known = "fO" if kind in _REACH and len(size) != 2 else "fOu"
    if self.dtype.kind not in known or (self.dtype.kind == "u" and self.dtype != np.uint8):
        raise NotImplementedError(f"\"upsample\" not implemented for '{type_name(self.dtype)}'")
    if self.ndim != len(size) + 2:
        raise RuntimeError(
            f"It is expected input_size equals to {len(size) + 2}, but got size {self.ndim}"
        )
    if min(size) <= 0 or 0 in self.shape[2:]:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input "
            f"{list(self.shape[2:])} output {list(size)}"
        )
    if not math.prod(self.shape[1:]):
        raise RuntimeError(
            "Non-empty data tensor expected but got a tensor with sizes " + str(list(self.shape))
        )

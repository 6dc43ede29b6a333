"""`make_tensor`: tensors of random elements, to call functions with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..core.modes import no_grad
from ..core.tensor import Tensor
from ..core.user_warnings import warn
from ..dtypes.limits import finfo
from ..functions.creation import empty
from ..random import randint

DType = np.dtype[Any]

_DEFAULTS: Final = {"b": (0, 2), "u": (0, 10), "i": (-9, 10), "f": (-9, 9), "c": (-9, 9)}
"""`low` and `high`, by the kind of dtype."""


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = None,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Make a tensor of elements that are drawn from `[low, high)`; both parts of complex ones.

    Left out, the bounds are 0 and 2 for bools, 0 and 10 for unsigned integers, -9 and 10 for signed
    ones, -9 and 9 for floats; what the dtype cannot hold becomes its least or largest element.
    `noncontiguous` takes every other element of a tensor twice as long, where there are at least
    two. `exclude_zero` writes 1 in the place of 0, or the smallest normal float.

    ValueError for bounds that are nan, in the wrong order, or both outside of the dtype; for
    `requires_grad` of integers; for `noncontiguous` beside a `memory_format`.
    """
    dtype = np.dtype(dtype)
    if dtype.kind not in _DEFAULTS:
        raise TypeError(f"The requested dtype '{dtype}' is not supported by make_tensor()")
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"{noncontiguous=} and {memory_format=}"
        )
    if requires_grad and dtype.kind in "biu":
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"{dtype=}"
        )
    given = shape[0] if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
    size = tuple(given)
    is_spread = noncontiguous and math.prod(size) > 1
    drawn = (*size[:-1], 2 * size[-1]) if is_spread else size
    with no_grad():
        made = _drawn(drawn, dtype, device, *_bounds(low, high, dtype))
        if is_spread:
            made = made[..., 1::2]
        elif memory_format is not None:
            made = made.contiguous(memory_format=memory_format)
        if exclude_zero:
            made[made == 0] = 1 if dtype.kind in "biu" else finfo(dtype).tiny
    return made.requires_grad_(requires_grad)


def _bounds(low: float | None, high: float | None, dtype: DType) -> tuple[float, float]:
    """Return the bounds to draw from: those given, or the usual ones, within those of the dtype."""
    usual_low, usual_high = _DEFAULTS[dtype.kind]
    low = usual_low if low is None else low
    high = usual_high if high is None else high
    least, end = _range_of(dtype)
    if low != low or high != high:
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and dtype.kind in "fc":
        warn(
            "Passing `low==high` to `testing.make_tensor` for floating or complex types is "
            "deprecated: use `full`",
            FutureWarning,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= end:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} "
            f"only supports [{least}, {end})"
        )
    low, high = min(max(low, least), end), min(max(high, least), end)
    # Integers begin at the first that is not below `low`, and end before the first from `high` on.
    return (math.ceil(low), math.ceil(high)) if dtype.kind in "biu" else (low, high)


def _range_of(dtype: DType) -> tuple[float, float]:
    """Return the least element of a dtype, and the first number beyond, or the largest float."""
    if dtype.kind == "b":
        return 0, 2
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return int(limits.min), min(int(limits.max) + 1, 1 << 63)  # where randint ends
    return finfo(dtype).min, finfo(dtype).max


def _drawn(size: tuple[int, ...], dtype: DType, device: Any, low: Any, high: Any) -> Tensor:
    if dtype.kind in "biu":
        return randint(low, high, size, dtype=dtype, device=device)
    made = empty(size, dtype=dtype, device=device)
    if high - low < finfo(dtype).max:
        return made.uniform_(low, high)
    # The range of uniform_ must be a float itself.
    return made.uniform_(low / 2, high / 2).mul_(2)

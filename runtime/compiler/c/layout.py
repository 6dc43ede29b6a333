"""Index arithmetic: how the elements of values lie in memory, on the dimensions of a loop nest."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ..program import Value

Dims = tuple[int, ...]


@dataclass(frozen=True)
class Access:
    """The elements that an operation reads or writes, one for each point of its dimensions."""

    root: Value
    """The value that owns the memory."""
    offset: int
    """Bytes from the first element of the root to the first that is accessed."""
    strides: Dims
    """Bytes from one point to the next in each dimension; 0 where an element is read again."""


def root_of(value: Value) -> Value:
    """Return the value that owns the memory of a value."""
    return value if value.base is None else value.base


def dims_of(shape: Sequence[int]) -> Dims:
    """Return the dimensions of a loop over a shape: those of length 1 need none."""
    return tuple(length for length in shape if length != 1)


def access(value: Value, shape: Sequence[int]) -> Access:
    """Return how a value is read that is broadcast to a shape, on `dims_of(shape)`."""
    lead = len(shape) - len(value.shape)
    strides = []
    for dim, length in enumerate(shape):
        own = dim - lead
        if length == 1:
            continue
        repeated = own < 0 or value.shape[own] == 1
        strides.append(0 if repeated else value.strides[own])
    return Access(root_of(value), value.offset, tuple(strides))


def refine(first: Dims, second: Dims) -> Dims | None:
    """Return the coarsest dimensions into which both can be split; None if there are none."""
    if first == second:
        return first
    if prod(first) != prod(second):
        return None
    cuts = sorted({prod(dims[start:]) for dims in (first, second) for start in range(len(dims))})
    cuts = [1, *(cut for cut in cuts if cut != 1)]
    if any(high % low for low, high in itertools.pairwise(cuts)):
        return None
    return tuple(high // low for low, high in itertools.pairwise(cuts))[::-1]


def spread(dims: Dims, strides: Dims, finer: Dims) -> Dims:
    """Return the strides on dimensions into which `dims` are split."""
    found: list[int] = []
    position = len(finer)
    for length, stride in zip(reversed(dims), reversed(strides), strict=True):
        covered = 1
        while covered < length:
            position -= 1
            found.append(stride * covered)
            covered *= finer[position]
    return tuple(reversed(found))


def mergeable(dims: Dims, all_strides: Sequence[Dims], at: int) -> bool:
    """Return whether one loop can run over dimension `at` and the next."""
    length = dims[at + 1]
    return all(strides[at] == strides[at + 1] * length for strides in all_strides)


def extent(value: Value) -> tuple[int, int]:
    """Return the bytes before the first element and all bytes of the memory that a value spans."""
    before = sum(
        (length - 1) * -stride
        for length, stride in zip(value.shape, value.strides, strict=True)
        if stride < 0 and length
    )
    after = sum(
        (length - 1) * stride
        for length, stride in zip(value.shape, value.strides, strict=True)
        if stride > 0 and length
    )
    return before, before + after + value.dtype.itemsize if value.size else 0

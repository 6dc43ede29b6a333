"""Differences of neighbouring elements, and slopes estimated by them.

Any number of calls of ops, as many as the arguments ask for. No function has a node of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor, normalize_dim
from ..dispatch.numbers_given import number_given
from ..dispatch.registry import ops, table_op
from ..dtypes.whole_numbers import dim_numbers, whole_number
from ..inplace.keywords import accepts_numpy_names, accepts_out


@accepts_out
@accepts_numpy_names
def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """The `n`-th differences along `dim`, of bools where neighbours differ.

    `prepend` and `append` are joined to the two ends first. Raises RuntimeError for a scalar.
    """
    n = whole_number("diff", "n", n)
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    axis = normalize_dim(dim, input.ndim)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    parts = [part for part in (prepend, input, append) if part is not None]
    for part in parts:
        _check_joinable(part, input, axis)
    if not n:
        copied: Any = ops._zero(input)
        return copied.copy_(input)
    joined: Tensor = input if len(parts) == 1 else ops.cat(parts, axis)
    differ = table_op("logical_xor" if joined.array.dtype.kind == "b" else "sub")
    for _ in range(min(n, joined.shape[axis])):
        length = joined.shape[axis] - 1
        joined = differ(_part(joined, axis, 1, length), _part(joined, axis, 0, length))
    return joined


def _check_joinable(part: Tensor, input: Tensor, axis: int) -> None:
    if part.ndim != input.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    shapes = [[*each.shape[:axis], *each.shape[axis + 1 :]] for each in (part, input)]
    if shapes[0] != shapes[1]:
        raise RuntimeError(
            "diff expects the shape of tensor to prepend or append to match that of input except "
            f"along the differencing dimension {axis}, but got {tuple(part.shape)} for an input of "
            f"shape {tuple(input.shape)}"
        )


def _part(tensor: Tensor, axis: int, start: int, length: int) -> Tensor:
    return ops.narrow(tensor, axis, start, length)


@accepts_numpy_names
def gradient(
    input: Tensor,
    *,
    spacing: Any = None,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> tuple[Tensor, ...]:
    """The slopes along each of the dimensions, by differences of the neighbours on both sides.

    `spacing` is how far apart the samples are, for all dimensions or for each, or tells their
    coordinates along each. `edge_order` 2 takes three samples at the ends instead of two.
    RuntimeError for bytes, whose differences would not be negative.
    """
    edge_order = whole_number("gradient", "edge_order", edge_order)
    if input.array.dtype == np.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    dims = range(input.ndim) if dim is None else dim_numbers(dim)
    axes = [normalize_dim(each, input.ndim) for each in dims]
    if isinstance(spacing, list | tuple):
        steps = [_step(each) for each in spacing]
    else:
        steps = [1 if spacing is None else _step(spacing)] * len(axes)
    if len(steps) != len(axes):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
            f"{len(axes)}, but got a list of length {len(steps)}"
        )
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if len(set(axes)) < len(axes):
        raise RuntimeError("torch.gradient expected each dim to appear once")
    if any(input.shape[axis] <= edge_order for axis in axes):
        raise RuntimeError(
            "torch.gradient expected each dimension size to be at least edge_order+1"
        )
    return tuple(
        _slopes(input, axis, step, edge_order) for axis, step in zip(axes, steps, strict=True)
    )


def _step(given: Any) -> Any:
    """A distance as Python's number, or coordinates as they are; TypeError for neither."""
    if isinstance(given, Tensor) and given.ndim:
        return given
    return number_given("gradient", "spacing", given)


def _slopes(input: Tensor, axis: int, step: Any, edge_order: int) -> Tensor:
    length = input.shape[axis]
    if isinstance(step, int | float | complex):
        inner = _part(input, axis, 2, length - 2) - _part(input, axis, 0, length - 2)
        first, last = _even_edges(input, axis, edge_order)
        parts = [ops._divided(first, step), inner / step / 2]
        return ops.cat([*parts, ops._divided(last, step)], axis)
    if step.ndim != 1 or step.shape[0] != length:
        raise RuntimeError(
            f"torch.gradient expected {length} coordinates along dimension {axis}, but got the "
            f"shape {tuple(step.shape)}"
        )
    widths = diff(step)
    before, after = widths[:-1], widths[1:]
    inner = _weighed(input, axis, _middle_weights(before, after), 0)
    if edge_order == 1:
        first = (_part(input, axis, 1, 1) - _part(input, axis, 0, 1)) / widths[0]
        last = _part(input, axis, length - 1, 1) - _part(input, axis, length - 2, 1)
        return ops.cat([first, inner, last / widths[-1]], axis)
    first = _weighed(input, axis, _first_weights(before[:1], after[:1]), 0)
    weights = [-weight for weight in _first_weights(after[-1:], before[-1:])]
    last = _weighed(input, axis, weights[::-1], length - 3)
    return ops.cat([first, inner, last], axis)


def _even_edges(input: Tensor, axis: int, edge_order: int) -> tuple[Tensor, Tensor]:
    """The slopes at both ends of samples that are 1 apart."""
    length = input.shape[axis]
    if edge_order == 1:
        return (
            _part(input, axis, 1, 1) - _part(input, axis, 0, 1),
            _part(input, axis, length - 1, 1) - _part(input, axis, length - 2, 1),
        )
    a, b, c = (_part(input, axis, at, 1) for at in range(3))
    x, y, z = (_part(input, axis, at, 1) for at in range(length - 3, length))
    return a * -1.5 + b * 2 + c * -0.5, x * 0.5 + y * -2 + z * 1.5


def _middle_weights(before: Tensor, after: Tensor) -> list[Tensor]:
    """Return the weights of three samples in the slope of their parabola at the middle one."""
    whole = before + after
    return [
        -after / (before * whole),
        (after - before) / (before * after),
        before / (after * whole),
    ]


def _first_weights(before: Tensor, after: Tensor) -> list[Tensor]:
    """Return the weights of three samples in the slope of their parabola at the first one."""
    whole = before + after
    return [
        -(before + whole) / (before * whole),
        whole / (before * after),
        -before / (after * whole),
    ]


def _weighed(input: Tensor, axis: int, weights: Sequence[Tensor], start: int) -> Tensor:
    """Sums of three neighbours each, from `start` on, times their weights."""
    length = weights[0].shape[0]
    shape = [length if each == axis else 1 for each in range(input.ndim)]
    a, b, c = (
        weight.reshape(shape) * _part(input, axis, start + nr, length)
        for nr, weight in enumerate(weights)
    )
    return a + b + c


class DifferenceMethods:
    """Methods of `Tensor` that are these functions."""

    __slots__ = ()

    diff = diff

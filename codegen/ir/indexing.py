"""Indices of tensors as calls of ops: `x[1:, None]` is `unsqueeze(slice(x, 0, 1), 1)`."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import TypeAlias

from .nodes import Call, Const, Expr, Slice, Unary, number

Index: TypeAlias = "Expr | Slice | EllipsisType"
"""One part of an index; `...` stands for the dimensions that are not named."""

_STEP_BACK = Unary("-", Const(1))


def indexed(value: Expr, indices: Sequence[Index]) -> Expr:
    """Return the calls that take the part `value[*indices]` of a tensor, as NumPy does.

    Dimensions behind an ellipsis are counted from the end. ValueError for a second ellipsis, and
    for a step backwards between bounds.
    """
    place = indices.index(...) if ... in indices else len(indices)
    before, behind = indices[:place], indices[place + 1 :]
    if ... in behind:
        raise ValueError("there are two ellipses")
    dim = 0
    for index in before:
        value = _part(value, dim, index)
        dim += not _is_single(index)
    dim = -1
    for index in reversed(behind):
        value = _part(value, dim, index)
        dim -= not _is_single(index)
    return value


def _is_single(index: Index) -> bool:
    """Return whether an index takes one element of a dimension, which disappears."""
    return not isinstance(index, Slice | EllipsisType) and index != Const(None)


def _part(value: Expr, dim: int, index: Index) -> Expr:
    assert not isinstance(index, EllipsisType)
    place = number(dim)
    if index == Const(None):
        return Call("unsqueeze", (value, place), span=index.span)
    if not isinstance(index, Slice):
        return Call("select", (value, place, index), span=index.span)
    start, stop, step = index.start, index.stop, index.step
    if step == _STEP_BACK and start is stop is None:
        return Call("flip", (value, place), span=index.span)
    if isinstance(step, Unary):
        raise ValueError("a step backwards takes a whole dimension: `::-1`")
    if step is not None:
        bounds = (start or Const(None), stop or Const(None), step)
        return Call("slice", (value, place, *bounds), span=index.span)
    if stop is not None:
        return Call("slice", (value, place, start or Const(None), stop), span=index.span)
    return value if start is None else Call("slice", (value, place, start), span=index.span)

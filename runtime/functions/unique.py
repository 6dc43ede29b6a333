"""The elements of a tensor that differ: what is returned depends on what is asked for."""

from __future__ import annotations

from typing import Any, Literal, overload

from ..core.tensor import Tensor
from ..dispatch.registry import ops


@overload
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: int | None = None,
) -> Tensor: ...
@overload
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any: ...
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The elements that differ, or the slices of `dim`, in order whether `sorted` or not.

    Also, if asked for, where each of the input's own is among them, and how often each occurs.
    """
    if dim is None:
        return _chosen(ops._unique2(input), return_inverse, return_counts)
    return _chosen(ops._unique_dim(input, dim), return_inverse, return_counts)


@overload
def unique_consecutive(
    input: Tensor,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: int | None = None,
) -> Tensor: ...
@overload
def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any: ...
def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The elements, or the slices of `dim`, that differ from the one before.

    Also, if asked for, where each of the input's own is among them, and how often each occurs.
    """
    return _chosen(ops._unique_consecutive(input, dim), return_inverse, return_counts)


def _chosen(found: Any, return_inverse: bool, return_counts: bool) -> Any:
    values, inverse, counts = found
    if not (return_inverse or return_counts):
        return values
    return (values, *[inverse] * return_inverse, *[counts] * return_counts)


class UniqueMethods:
    """Methods of `Tensor` that are these functions."""

    __slots__ = ()

    unique = unique
    unique_consecutive = unique_consecutive

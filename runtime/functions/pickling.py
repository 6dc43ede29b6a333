"""Copies and pickles of tensors: the values, not the graph behind them.

`copyreg` uses these for `copy.copy`, `copy.deepcopy` and `pickle`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..core.tensor import Tensor, wrap

Span: TypeAlias = tuple[tuple[int, ...], np.dtype[Any], int, tuple[int, ...]]
"""The shape, dtype, offset and strides of an array in the memory of another."""


def leaf_parts(tensor: Tensor) -> tuple[Callable[..., Tensor], tuple[Any, ...], Any]:
    """Take a leaf apart, its own attributes last; RuntimeError for a result, which has a graph."""
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol and can be pickled: detach() this one first."
        )
    is_parameter = getattr(tensor, "_is_parameter", False)
    grad = None if is_parameter else tensor.grad  # as in PyTorch
    memory, span = _memory_of(tensor.array)
    parts = (memory, grad, tensor.requires_grad, is_parameter, span)
    return rebuild, parts, vars(tensor) or None


def rebuild(
    memory: np.ndarray[Any, Any],
    grad: Tensor | None,
    requires_grad: bool,
    is_parameter: bool,
    span: Span | None = None,
) -> Tensor:
    """Make a leaf of its parts; see `leaf_parts`."""
    array = memory
    if span is not None:
        shape, dtype, offset, strides = span
        flat = memory if memory.flags.c_contiguous else memory.T
        array = np.ndarray(shape, dtype, flat, offset, strides)
    tensor = wrap(array).requires_grad_(requires_grad)
    if grad is not None:
        tensor.grad = grad
    if is_parameter is not False:  # also a mark that is false, as that of a buffer
        tensor._is_parameter = is_parameter
    return tensor


def _memory_of(array: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], Span | None]:
    """The array that owns the memory, and where in it `array` lies.

    So tensors that share memory do so in a copy, too, however it is made.
    """
    owner = array
    while type(owner.base) is np.ndarray:
        owner = owner.base
    is_one_piece = owner.flags.c_contiguous or owner.flags.f_contiguous
    if owner is array or not (is_one_piece and owner.flags.writeable) or array.dtype.hasobject:
        return array, None
    offset = _address(array) - _address(owner)
    return owner, (array.shape, array.dtype, offset, array.strides)


def _address(array: np.ndarray[Any, Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address

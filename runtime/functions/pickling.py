"""Copies and pickles of tensors: the values, not the graph behind them."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeAlias

import numpy as np

from ..core.accumulate_grad import AccumulateGrad
from ..core.tensor import Tensor, new_tensor
from ..forward_ad.dual import without_tangents

Span: TypeAlias = tuple[tuple[int, ...], np.dtype[Any], int, tuple[int, ...]]
"""The shape, dtype, offset and strides of an array in the memory of another."""


class PicklingMethods:
    """Methods of `Tensor` that `pickle` and `copy` call."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Take the tensor apart; what is built of the parts is a leaf, also for a result."""
        return leaf_parts(self)  # type: ignore[arg-type]

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Copy a leaf; RuntimeError for a result, which has a graph."""
        if not self.is_leaf:  # type: ignore[attr-defined]
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol: detach() this one first."
            )
        if id(self) in memo:
            return memo[id(self)]
        build, parts, attributes = leaf_parts(self)  # type: ignore[arg-type]
        copied = build(*deepcopy(parts, memo))
        memo[id(self)] = copied
        vars(copied).update(deepcopy(attributes or {}, memo))
        return copied


def leaf_parts(tensor: Tensor) -> tuple[Callable[..., Tensor], tuple[Any, ...], Any]:
    """Return what builds a leaf of the same values, its arguments, and the tensor's attributes.

    A tangent is left out, as in PyTorch.
    """
    tensor = without_tangents(tensor)
    is_parameter = getattr(tensor, "_is_parameter", False)
    grad = tensor.grad if tensor.is_leaf and not is_parameter else None  # as in PyTorch
    memory, span = _memory_of(tensor.array)
    parts: tuple[Any, ...] = (memory, grad, tensor.requires_grad, is_parameter, span)
    attributes = vars(tensor) or None
    if type(tensor) is not Tensor:
        parts = (*parts, type(tensor))
    return rebuild, parts, attributes


def rebuild(
    memory: np.ndarray[Any, Any],
    grad: Tensor | None,
    requires_grad: bool,
    is_parameter: bool,
    span: Span | None = None,
    cls: type[Tensor] = Tensor,
) -> Tensor:
    """Make a leaf of its parts; see `leaf_parts`."""
    array = memory
    if span is not None:
        shape, dtype, offset, strides = span
        flat = memory if memory.flags.c_contiguous else memory.T
        array = np.ndarray(shape, dtype, flat, offset, strides)
    leaf = new_tensor() if cls is Tensor else Tensor.__new__(cls)
    leaf.array, leaf.alias = array, None
    leaf.grad_node = AccumulateGrad(leaf) if requires_grad else None
    if grad is not None:
        leaf.grad = grad
    if is_parameter is not False:  # a mark of a kind of parameter or buffer may be false
        leaf._is_parameter = is_parameter
    return leaf


def _memory_of(array: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], Span | None]:
    """The array that owns the memory, and the offset of `array` in it.

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

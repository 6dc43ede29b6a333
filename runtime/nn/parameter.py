"""`Parameter`: a tensor that a module shows to its optimizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.accumulate_grad import AccumulateGrad
from ..core.tensor import Tensor, wrap
from ..core.type_promotion import get_default_dtype
from ..functions.creation import float_dtype


class _ParameterType(type):
    """A parameter is a marked `Tensor`: a subclass would leave the fast path of every op."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_parameter", False)


class Parameter(Tensor, metaclass=_ParameterType):
    """`Parameter(data)` is a leaf on the memory of `data` that requires a gradient."""

    __slots__ = ()

    def __new__(  # type: ignore[misc]
        cls, data: Tensor | None = None, requires_grad: bool = True
    ) -> Tensor:
        if data is None:
            data = wrap(np.empty(0, get_default_dtype()))
        if not isinstance(data, Tensor):
            raise TypeError(f"a Parameter is made from a Tensor, not {type(data).__name__}")
        parameter = data.detach()
        parameter._is_parameter = True
        return parameter.requires_grad_(requires_grad)


def empty_parameter(shape: Sequence[int], dtype: Any) -> Tensor:
    """A parameter that is still to be written; the default dtype if `dtype` is None."""
    return Parameter(wrap(np.empty(tuple(shape), float_dtype(dtype))))


def set_array(tensor: Tensor, array: np.ndarray[Any, Any]) -> None:
    """Give a leaf another array, for instance of another dtype; what it accumulated goes along."""
    tensor.array = array
    if isinstance(tensor.grad_node, AccumulateGrad):
        tensor.grad_node.array = array
    if tensor.grad is not None:
        tensor.grad = wrap(tensor.grad.array.astype(array.dtype))

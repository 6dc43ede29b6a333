"""Copies and pickles of tensors: the values, not the graph behind them.

`copyreg` uses these for `copy.copy`, `copy.deepcopy` and `pickle`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .tensor import Tensor, wrap


def leaf_parts(tensor: Tensor) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
    """What a leaf is rebuilt from; RuntimeError for a result, which would need its graph."""
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol and can be pickled: detach() this one first."
        )
    is_parameter = getattr(tensor, "_is_parameter", False)
    return _rebuild, (tensor.array, tensor.grad, tensor.requires_grad, is_parameter)


def _rebuild(
    array: np.ndarray[Any, Any], grad: Tensor | None, requires_grad: bool, is_parameter: bool
) -> Tensor:
    tensor = wrap(array).requires_grad_(requires_grad)
    if grad is not None:
        tensor.grad = grad
    if is_parameter:
        tensor._is_parameter = True
    return tensor

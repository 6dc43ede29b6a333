"""`gs.Tensor(...)`: PyTorch's first way to make tensors, of the default dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.devices import check_device
from ..core.tensor import Tensor
from ..core.type_promotion import get_default_dtype
from .creation import tensor as tensor_of


class ConstructorMethods:
    """The `__init__` of `Tensor`."""

    __slots__ = ()

    def __init__(self: Any, *data: Any, device: Any = None) -> None:
        """Make a tensor of the given elements, or of the given shape with any elements.

        `Tensor([1, 2])` has these elements, `Tensor(2, 3)` this shape, `Tensor()` no element. Ops
        make their results without coming here.
        """
        check_device("Tensor", device)
        dtype = get_default_dtype()
        made: Tensor = self
        made.grad_node = made.alias = None
        if len(data) == 1 and isinstance(data[0], Tensor):
            made.array = data[0].array
            made.alias = data[0].alias
        elif all(isinstance(length, int) and not isinstance(length, bool) for length in data):
            if any(length < 0 for length in data):
                raise RuntimeError(f"Trying to create tensor with negative dimension: {list(data)}")
            made.array = np.empty(data or (0,), dtype)
        elif len(data) == 1 and isinstance(data[0], Sequence | np.ndarray):
            made.array = tensor_of(data[0], dtype=dtype).array
        else:
            kinds = ", ".join(type(value).__name__ for value in data)
            raise TypeError(f"new(): data must be a sequence (got {kinds})")

"""PyTorch's rules of dtypes as functions: what two dtypes become, and what may be stored where."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.entrance import check_dtype
from ..core.tensor import Tensor
from ..dtypes import promotion
from ..dtypes.promotion import result_dtype
from ..dtypes.refused import RefusedDtype


def _dtype(name: str, position: int, given: Any) -> np.dtype[Any]:
    if not isinstance(given, np.dtype | type | RefusedDtype):
        raise TypeError(
            f"{name}(): argument {position} must be gradspec.dtype, not {type(given).__name__}"
        )
    return check_dtype(np.dtype(given))


def promote_types(type1: Any, type2: Any) -> np.dtype[Any]:
    """Return the smallest dtype that holds both, by PyTorch's table."""
    names = ("type1", "type2")
    first, second = (_dtype("promote_types", i, t) for i, t in enumerate((type1, type2), 1))
    for name, dtype in zip(names, (first, second), strict=True):
        if dtype.kind == "u" and dtype.itemsize > 1 and first != second:
            raise RuntimeError(
                f"promote_types(): {name} is {dtype}: Promotion for uint16, uint32, uint64 types "
                "is not supported"
            )
    return promotion.promote_types(first, second)


def can_cast(from_: Any, to: Any) -> bool:
    """Return whether an in-place op may store a dtype in another: never in a lower category."""
    return promotion.can_cast(_dtype("can_cast", 1, from_), _dtype("can_cast", 2, to))


def result_type(tensor1: Any, tensor2: Any) -> np.dtype[Any]:
    """Return the dtype of an op of two tensors or numbers; dimensions and categories decide."""
    values = [value.array if isinstance(value, Tensor) else value for value in (tensor1, tensor2)]
    return result_dtype(*values)

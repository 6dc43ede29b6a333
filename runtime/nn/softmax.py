"""`nn.functional.softmax` and its kin, where the dimension may be left out."""

from __future__ import annotations

import warnings
from typing import Any

from ..registry import table_op
from ..tensor import Tensor


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Exponentials along `dim`, scaled to sum to one; in `dtype`, if one is given.

    Without `dim`, which is deprecated and warned of, it is 0 for tensors of 0, 1 and 3 dimensions
    and 1 for others: PyTorch's rule.
    """
    if dim is None:
        dim = _implicit_dim("softmax", input, _stacklevel)
    return table_op("softmax")(input, dim, dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """The logarithm of `softmax`, which see for `dim`."""
    if dim is None:
        dim = _implicit_dim("log_softmax", input, _stacklevel)
    return table_op("log_softmax")(input, dim, dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """`softmax` of the negative elements; see there for `dim`."""
    if dim is None:
        dim = _implicit_dim("softmin", input, _stacklevel)
    return table_op("softmax")(-input, dim, dtype)


def _implicit_dim(name: str, input: Tensor, stacklevel: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} is deprecated: pass dim=...",
        UserWarning,
        stacklevel=stacklevel,
    )
    return 0 if input.ndim in (0, 1, 3) else 1

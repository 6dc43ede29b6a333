"""Memory of `out` that a function reads, too: refused where PyTorch refuses it.

All that is written is computed before, so that no value would be lost here; in PyTorch it would.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from ..core.tensor import Tensor
from ..core.torch_function import flattened
from .ops import refuse_any_overlap, refuse_part

_MOVES: Final = frozenset(
    [
        *("cat", "concat", "concatenate", "column_stack", "dstack", "hstack", "row_stack", "stack"),
        *("vstack", "gather", "index_select", "take", "take_along_dim", "masked_select"),
        *("index_add", "index_copy", "scatter", "scatter_add", "outer", "ger", "cross"),
    ]
)
"""Functions that read elements at other places than those that they write."""

_AS_A_WHOLE: Final = frozenset(
    [
        *("mm", "bmm", "matmul", "softmax", "log_softmax", "cholesky", "inverse", "diff"),
        *("cummax", "cummin", "quantile", "nanquantile", "tril", "triu"),
    ]
)
_WHOLE_FAMILIES: Final = ("linalg_", "fft_")
"""Functions that PyTorch does not check, though the result has the shape of an argument."""


def refuse_overlap_of_out(name: str, out: Tensor, read: Iterable[object]) -> None:
    """Raise RuntimeError if `out` overlaps an input; elementwise functions may write over it."""
    tensors = [value for value in flattened(read) if type(value) is Tensor]
    sharing = [x for x in tensors if np.may_share_memory(x.array, out.array)]
    if not sharing or name in _AS_A_WHOLE or name.startswith(_WHOLE_FAMILIES):
        return
    if name in _MOVES:
        for tensor in sharing:
            refuse_any_overlap(out, tensor)
    elif _common_shape(tensors) == out.array.shape:
        for tensor in sharing:
            refuse_part(out.array, tensor.array)


def _common_shape(tensors: list[Tensor]) -> Any:
    try:
        return np.broadcast_shapes(*(tensor.array.shape for tensor in tensors))
    except ValueError:
        return None

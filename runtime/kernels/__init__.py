"""NumPy kernels too long for one expression; generated code calls them as `kernels.name`.

They run on arrays of numbers and, during a proof, on arrays of symbols: no `float()`, no
`np.asarray`, nothing that asks for one dtype.
"""

from .indexing import select, select_backward, where
from .linalg import mm
from .loss import nll_loss, nll_loss_backward
from .nn import softmax
from .reduction import (
    max_with_indices,
    min_with_indices,
    put_along_dim,
    sum,
    take_along_dim,
    unreduce,
)
from .shape import cat, cat_backward, t, to_copy, transpose

__all__ = [
    "cat",
    "cat_backward",
    "max_with_indices",
    "min_with_indices",
    "mm",
    "nll_loss",
    "nll_loss_backward",
    "put_along_dim",
    "select",
    "select_backward",
    "softmax",
    "sum",
    "t",
    "take_along_dim",
    "to_copy",
    "transpose",
    "unreduce",
    "where",
]

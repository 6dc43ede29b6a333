"""The order in memory of what an index picks: that of the array it picks from, as in PyTorch.

NumPy puts the dimensions that were indexed first in memory wherever they stand, so that
`x[:, [0, 1]].view(-1)` would be refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ...core.strides import outermost_first
from ..elementwise.checks import Array
from ..shape.layout import in_order


def laid_out(found: Array, self: Array, indices: Sequence[Array | None]) -> Array:
    """`found`, which `indices` picked from `self`, in the order in which `self` lies."""
    if self.flags.c_contiguous:
        return in_order(found)
    order = outermost_first(_strides(self, indices, found.ndim))
    turned = found.transpose(order)
    if turned.flags.c_contiguous:
        return found
    back: Array = turned.copy(order="C").transpose(np.argsort(order))
    return back


def _strides(self: Array, indices: Sequence[Array | None], ndim: int) -> list[int]:
    """For each dimension of the result how far apart its elements lie; 0 for what an index says."""
    at = [dim for dim, index in enumerate(indices) if index is not None]
    kept = [stride for dim, stride in enumerate(self.strides) if dim not in at]
    together = all(after == before + 1 for before, after in pairwise(at))
    first = at[0] if together else 0
    return [*kept[:first], *[0] * (ndim - len(kept)), *kept[first:]]

"""Tangents lie in memory as their primals do."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor, wrap
from ..kernels.shape.strided_region import Memory, same_layout


def lying_as(tangent: Tensor, primal: Tensor) -> Tensor:
    """A tangent that lies in memory as the primal does: itself, or a copy.

    A tangent of another shape is left as it is: a copy would spread it over the primal's.
    """
    mine, other = tangent.array, primal.array
    if mine.shape != other.shape:
        return tangent
    if not other.flags.writeable or (mine.flags.writeable and same_layout(mine, other)):
        return tangent
    made = Memory(other).show(other).astype(mine.dtype, copy=False)
    laid: Any = wrap(made.view(type(mine)))  # an array of a proof is of a class of its own
    copied: Tensor = laid.copy_(tangent)
    return copied


def lay_out(copied: Tensor, order: tuple[int, ...]) -> None:
    """Put the elements of a copy, and of its tangent, into the order of the dimensions."""
    if hasattr(copied, "_dual_parts"):
        lay_out(copied._dual_parts.primal, order)
        lay_out(copied._dual_parts.tangent, order)
    else:
        turned = copied.array.transpose(order)
        turned = turned if turned.flags.c_contiguous else turned.copy(order="C")
        copied.array = turned.transpose(np.argsort(order))

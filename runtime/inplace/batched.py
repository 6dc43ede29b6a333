"""Writing to batched tensors: to the examples of all, each with its own values."""

from __future__ import annotations

from typing import Any

from ..batching.batched import Batched, aligned, batch, is_of
from ..batching.exposed import batches_of
from ..core.tensor import Tensor
from ..forward_ad.inplace_tangents import copy_as


def write_examples(written: Tensor, values: Any) -> Tensor:
    """Write values, a number or a tensor that broadcasts, to a batched tensor; returns that.

    RuntimeError where the values differ between examples and the tensor does not: they have no
    room in its memory.
    """
    if isinstance(values, Tensor):
        refuse_examples(written, values)
    assert isinstance(written, Batched)
    level = written.level
    if isinstance(values, Tensor) and is_of(values, level):
        values = aligned(values, written.ndim, level)
    written.physical.copy_(values)
    return written


def copy_examples(batched: Tensor) -> Tensor:
    """Copy a batched tensor as it is now, so that what a node keeps is not overwritten.

    Stands at the same place in the graph, and has the same tangents; see `copy_as`.
    """
    assert isinstance(batched, Batched)
    physical = batched.physical
    copied = copy_examples(physical) if type(physical) is Batched else copy_as(physical)
    return batch(copied, batched.level)


def refuse_examples(written: Tensor, *values: object) -> None:
    """Raise RuntimeError if a value differs between examples for which `written` is one tensor."""
    for value in values:
        if type(value) is Batched and batches_of(written, value) != batches_of(written):
            raise RuntimeError(
                "vmap: inplace arithmetic is not possible on a tensor that is the same for all "
                "examples, with values that differ between them: use the out-of-place operation"
            )

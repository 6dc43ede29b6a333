"""The examples of batched tensors as ordinary dimensions, and back.

Derivatives are taken of physical tensors: inside `vmap` the graph, and the duals of forward mode,
lie below all batches. Here a tensor is brought there, with the batches of all levels as its first
dimensions, outermost first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ..core import levels
from ..core.tensor import Tensor
from ..dispatch.registry import ops
from .batched import Batched, Level, batch, is_of


def open_batches() -> tuple[Level, ...]:
    """The calls of `vmap` that are under way, outermost first."""
    return tuple(level for level in levels.open_levels() if isinstance(level, Level))


def batches_of(*tensors: Tensor) -> tuple[Level, ...]:
    """The levels at which any of some tensors is batched, outermost first."""
    found = set()
    for tensor in tensors:
        while type(tensor) is Batched:
            found.add(tensor.level)
            tensor = tensor.physical
    return tuple(sorted(found, key=lambda level: level.depth))


def expose(tensor: Tensor, batches: Sequence[Level]) -> Tensor:
    """The tensor with the examples of these levels as its first dimensions.

    Where it is the same for all examples of a level, it is expanded.
    """
    for level in reversed(batches):
        tensor = _exposed(tensor, level)
    return tensor


def _exposed(tensor: Tensor, level: Level) -> Tensor:
    if is_of(tensor, level):
        return cast(Batched, tensor).physical
    if type(tensor) is Batched and tensor.level.depth > level.depth:
        return batch(ops.transpose(_exposed(tensor.physical, level), 0, 1), tensor.level)
    return ops.expand(tensor, (level.size, *tensor.shape))


def hide(tensor: Tensor, batches: Sequence[Level]) -> Tensor:
    """The opposite of `expose`."""
    for level in batches:
        tensor = _hidden(tensor, level)
    return tensor


def _hidden(tensor: Tensor, level: Level) -> Tensor:
    if type(tensor) is Batched and tensor.level.depth > level.depth:
        return batch(_hidden(ops.transpose(tensor.physical, 0, 1), level), tensor.level)
    return batch(tensor, level)

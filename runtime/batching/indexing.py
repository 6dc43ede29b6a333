"""Indexing by tensors on all examples: their numbers are one more index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.tensor import Tensor, wrap
from ..dispatch.registry import Op, ops
from .batched import Level, NoFit, aligned, is_of, physical


def indexed(
    run: Callable[[dict[str, Any]], Any], op: Op, values: dict[str, Any], level: Level
) -> Any:
    """Run an op that takes, or writes, the elements at an index; NoFit for masks.

    The op has a list of optional indices, and perhaps values to write; the rest is the tensor.
    """
    indices_name = next(p.name for p in op.params if p.type == "Tensor?[]")
    tensor_name, *others = (p.name for p in op.params if p.type == "Tensor")
    indices = list(values[indices_name])
    places = [place for place, index in enumerate(indices) if index is not None]
    given = [indices[place] for place in places]
    if not given or any(index.dtype.kind == "b" for index in given):
        raise NoFit
    ndim = max(index.ndim for index in given)
    first = places[0]
    is_together = places == list(range(first, first + len(places)))
    numbers = wrap(np.arange(level.size).reshape(level.size, *(1,) * ndim))
    for place in places:
        index = indices[place]
        indices[place] = aligned(index, ndim, level) if is_of(index, level) else index
    arranged = values | {
        tensor_name: physical(values[tensor_name], level),
        indices_name: [numbers, *indices],
    }
    # The index stands in front, where an index of one example stands only if there is a gap.
    moves = is_together and first > 0
    if others:
        if moves:
            raise NoFit
        rank = ndim + values[tensor_name].ndim - len(places)
        (name,) = others
        value = values[name]
        arranged[name] = aligned(value, rank, level) if is_of(value, level) else value
    result = run(arranged)
    return _moved(result, first, ndim) if moves and not others else result


def _moved(result: Tensor, first: int, ndim: int) -> Tensor:
    """Bring the dimensions of the index, which follow that of the examples, to their place."""
    index = list(range(1, 1 + ndim))
    before = list(range(1 + ndim, 1 + ndim + first))
    after = list(range(1 + ndim + first, result.ndim))
    return ops.permute(result, [0, *before, *index, *after])

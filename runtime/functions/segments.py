"""Reductions of the segments of a dimension, each as long as a list of lengths says."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from ..core.tensor import Tensor, normalize_dim, wrap
from ..core.types import Number
from ..dispatch.registry import ops

_REDUCTIONS = {"sum": 0.0, "mean": math.nan, "max": -math.inf, "min": math.inf, "prod": 1.0}
"""Result of each for a segment without elements."""


def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Number | None = None,
) -> Tensor:
    """Reduce the segments of `axis`: their `sum`, `mean`, `max`, `min` or `prod`.

    `lengths`, or the bounds `offsets`, have the dimensions of `data` before `axis`, and one more.
    `initial` counts among the elements of each segment (of a mean among its sum alone). Elements
    behind all segments, which `unsafe` allows, have no gradient. Equal extremes share the gradient.
    RuntimeError for lengths that do not fit.
    """
    _check_arguments(data, reduce, lengths, indices, offsets)
    axis = normalize_dim(axis, data.ndim)
    bounds = _bounds(data, lengths, offsets, axis, unsafe)
    rows = data.reshape(math.prod(data.shape[:axis]), *data.shape[axis:])
    results = [
        _reduced(row[start:end], reduce, initial)
        for row, ends in zip(ops.unbind(rows, 0), bounds, strict=True)
        for start, end in pairwise(ends)
    ]
    shape = (*data.shape[:axis], len(bounds[0]) - 1 if bounds else 0, *data.shape[axis + 1 :])
    if not results:
        return ops.sum(data) * 0 + wrap(np.zeros(shape, data.dtype))
    return ops.stack(results).reshape(shape)


def _check_arguments(
    data: Tensor,
    reduce: str,
    lengths: Tensor | None,
    indices: Tensor | None,
    offsets: Tensor | None,
) -> None:
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if reduce not in _REDUCTIONS:
        raise RuntimeError(
            f"segment_reduce(): reduce is one of {', '.join(_REDUCTIONS)}, not {reduce!r}"
        )
    if not data.ndim or data.array.dtype.kind != "f":
        raise RuntimeError(
            "segment_reduce(): expected floats, along at least one dimension, got "
            f"{list(data.shape)} {data.dtype}"
        )


def _bounds(
    data: Tensor, lengths: Tensor | None, offsets: Tensor | None, axis: int, unsafe: bool
) -> list[list[int]]:
    """The bounds of the segments, a list for each row of the dimensions before `axis`."""
    given: Any = (offsets if lengths is None else lengths).array  # type: ignore[union-attr]
    name = "offsets" if lengths is None else "lengths"
    if given.dtype.kind not in "iu":
        raise NotImplementedError(f"segment_reduce(): {name} are whole numbers, not {given.dtype}")
    if given.ndim - 1 != axis:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}."
        )
    if given.shape[:-1] != data.shape[:axis]:
        raise RuntimeError(
            f"segment_reduce(): {name} of {list(given.shape)} do not fit data of {list(data.shape)}"
        )
    rows = given.reshape(-1, given.shape[-1]).astype(np.int64)
    total = data.shape[axis]
    if lengths is not None:
        if (rows < 0).any():
            raise RuntimeError("lengths contains negative value!")
        if not unsafe and (rows.sum(-1) != total).any():
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to "
                "data.size(lengths.dim()-1) when !unsafe."
            )
        rows = np.concatenate([np.zeros((len(rows), 1), np.int64), rows.cumsum(-1)], -1)
    if (rows < 0).any() or (rows > total).any() or (np.diff(rows) < 0).any():
        raise RuntimeError(f"segment_reduce(): the segments exceed the {total} elements")
    return [list(map(int, row)) for row in rows]


def _reduced(part: Tensor, reduce: str, initial: Number | None) -> Tensor:
    count = part.shape[0]
    if not count:
        start = _REDUCTIONS[reduce] if initial is None else initial
        return ops.sum(part, [0]) + start
    if reduce in ("sum", "mean"):
        total = ops.sum(part, [0]) + (0 if initial is None else initial)
        return total if reduce == "sum" else total / count
    if reduce == "prod":
        return ops.prod(part, 0) * (1 if initial is None else initial)
    found = ops.amax(part, [0]) if reduce == "max" else ops.amin(part, [0])
    if initial is None:
        return found
    is_beyond = found.array < initial if reduce == "max" else found.array > initial
    return found.masked_fill(wrap(np.asanyarray(is_beyond)), initial)

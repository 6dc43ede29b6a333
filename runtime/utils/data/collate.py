"""Batches made of examples."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...dispatch.registry import ops
from ...functions.creation import tensor


def default_collate(batch: Sequence[Any]) -> Any:
    """Make a batch of examples: tensors, arrays and numbers are stacked, containers kept.

    Python's floats become float64. Texts stay as they are. RuntimeError if sequences differ in
    length, TypeError for other objects.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return ops.stack(list(batch))
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, np.ndarray | np.generic):
        if first.dtype.kind not in "biufc":
            raise TypeError(
                "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or "
                f"lists; found {first.dtype}"
            )
        return wrap(np.stack(batch) if isinstance(first, np.ndarray) else np.asarray(batch))
    if isinstance(first, float):
        return tensor(batch, dtype=np.float64)
    if isinstance(first, bool | int):
        return tensor(batch)
    if isinstance(first, Mapping):
        collated = {key: default_collate([item[key] for item in batch]) for key in first}
        return _like(first, collated)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(part) for part in zip(*batch, strict=True)))
    if isinstance(first, Sequence):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        parts = [default_collate(part) for part in zip(*batch, strict=True)]
        return parts if isinstance(first, tuple) else _like(first, parts)
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        f"{type(first)}"
    )


def default_convert(data: Any) -> Any:
    """Make tensors of the arrays in an example; leave everything else as it is."""
    if isinstance(data, Tensor | str | bytes):
        return data
    if isinstance(data, np.ndarray | np.generic):
        array = np.asarray(data)
        return wrap(array) if array.dtype.kind in "biufc" else data
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(item) for key, item in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(item) for item in data))
    if isinstance(data, tuple):
        return [default_convert(item) for item in data]
    if isinstance(data, Sequence):
        return _like(data, [default_convert(item) for item in data])
    return data


def _like(original: Any, made: Any) -> Any:
    """Return what was made in a container of the original's type, if it can be built.

    One that can be changed is copied, with the attributes that its type adds.
    """
    if type(original) is type(made):
        return made
    try:
        if isinstance(original, MutableMapping):
            changed = copy.copy(original)
            changed.update(made)
            return changed
        if isinstance(original, MutableSequence):
            copied = copy.copy(original)
            for index, item in enumerate(made):
                copied[index] = item
            return copied
        return type(original)(made)
    except TypeError:
        return made

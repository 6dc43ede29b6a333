"""Arguments as NumPy's functions take them: axes, lists of arrays, numbers beside tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor, wrap
from ..dispatch.registry import ops
from ..functions import composites, creation

Axes = int | Sequence[int] | None


def as_tensor(value: Any) -> Tensor:
    """A tensor itself; numbers, lists and arrays in the dtype that NumPy gives them."""
    if isinstance(value, Tensor):
        return value
    return wrap(value) if _is_recorded(value) else creation.tensor(np.asarray(value))


def array_of(value: Any) -> Any:
    """The values of a tensor, or of what is none, as an array."""
    values = values_of(value)
    return values if _is_recorded(values) else np.asarray(values)


def _is_recorded(value: Any) -> bool:
    """Return whether an array notes what is done with it, as those of a program do: it stays."""
    answers = getattr(type(value), "__array_function__", None)
    return isinstance(value, np.ndarray) and answers is not np.ndarray.__array_function__


def as_tensors(values: Any) -> list[Tensor]:
    """Each of several arrays as a tensor."""
    return [as_tensor(value) for value in values]


def values_of(value: Any) -> Any:
    """The values of a tensor, also of one that a gradient flows to; anything else itself."""
    return value.detach().numpy() if isinstance(value, Tensor) else value


def axes_of(axis: Axes, ndim: int) -> tuple[int, ...]:
    """The axes that are meant, not negative; all of them if `axis` is None."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(range(ndim)[each] for each in ([axis] if isinstance(axis, int) else axis))


def flat(a: Any, axis: int | None) -> tuple[Tensor, int]:
    """A tensor and an axis: all elements in one where `axis` is None."""
    a = as_tensor(a)
    return (composites.ravel(a), 0) if axis is None else (a, axis)


def last_axis(a: Any, axis: Axes) -> tuple[Tensor, list[int]]:
    """The elements along some axes in a last one, and the shape of what keeps the axes."""
    a = as_tensor(a)
    axes = axes_of(axis, a.ndim)
    others = [each for each in range(a.ndim) if each not in axes]
    moved = ops.permute(a, [*others, *axes])
    kept = [1 if each in axes else length for each, length in enumerate(a.shape)]
    return ops.reshape(moved, [*(a.shape[each] for each in others), -1]), kept


def floats(a: Any) -> Tensor:
    """A tensor, with integers and bools as float64, as NumPy divides them."""
    a = as_tensor(a)
    return a if a.array.dtype.kind in "fc" else a.to(np.float64)


def promoted(*values: Any) -> list[Tensor]:
    """Tensors of one dtype, that which NumPy would compute in: its products mix dtypes."""
    tensors = as_tensors(values)
    dtype = np.result_type(*(tensor.array.dtype for tensor in tensors))
    return [each if each.array.dtype == dtype else each.to(dtype) for each in tensors]


def slices(a: Tensor, axis: int, start: int | None, stop: int | None) -> Tensor:
    """The part of a tensor between two places of one axis."""
    index: list[Any] = [slice(None)] * a.ndim
    index[axis] = slice(start, stop)
    found: Tensor = a[tuple(index)]
    return found

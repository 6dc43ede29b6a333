"""Functions of NumPy that pick elements: NumPy says which, of their numbers in place of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..core.tensor import Tensor, wrap
from ..dispatch.registry import ops
from ..functions import composites, splitting
from .arguments import array_of, as_tensor, axes_of, flat, values_of


def _numbers(a: Tensor, first: int = 0) -> Any:
    """The number of each element, in the places of the elements."""
    return np.arange(first, first + a.numel()).reshape(tuple(a.shape))


def _picked(a: Tensor, numbers: Any) -> Any:
    """The elements of the numbers, in the shape of the numbers."""
    chosen = ops.index_select(composites.ravel(a), 0, as_tensor(numbers.reshape(-1)))
    return ops.reshape(chosen, list(numbers.shape))


def _take(a: Any, indices: Any, axis: int | None = None, *, mode: str = "raise") -> Any:
    # By ops: `np.take` does not ask what its indices are, and those of a program would be lost.
    a, place = flat(a, axis)
    place = range(a.ndim)[place]
    index, length = as_tensor(indices), a.shape[place]
    if mode == "wrap":
        index = ops.remainder(index, length)
    elif mode == "clip":
        index = ops.clamp(index, 0, length - 1)
    elif mode == "raise":
        index = ops.where(ops.lt(index, 0), index + length, index)
    else:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    chosen = ops.index_select(a, place, composites.ravel(index))
    return ops.reshape(chosen, [*a.shape[:place], *index.shape, *a.shape[place + 1 :]])


def _take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    a, place = flat(arr, axis)
    return splitting.take_along_dim(a, as_tensor(indices), place)


def _partition(a: Any, kth: Any, axis: int | None = -1, kind: Any = "introselect") -> Any:
    a, place = flat(a, axis)
    order = np.argpartition(values_of(a), kth, place, kind)
    return splitting.take_along_dim(a, as_tensor(order), place)


def _compress(condition: Any, a: Any, axis: int | None = None) -> Any:
    a = as_tensor(a)
    return _picked(a, np.compress(values_of(condition), _numbers(a), axis))


def _extract(condition: Any, arr: Any) -> Any:
    arr = as_tensor(arr)
    return _picked(arr, np.extract(values_of(condition), _numbers(arr)))


def _delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    arr = as_tensor(arr)
    return _picked(arr, np.delete(_numbers(arr), values_of(obj), axis))


def _insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    arr, values = as_tensor(arr), as_tensor(values)
    numbers = np.insert(_numbers(arr), values_of(obj), _numbers(values, arr.numel()), axis)
    both = [composites.ravel(arr), composites.ravel(values).to(arr.dtype)]
    return _picked(ops.cat(both, 0), numbers)


def _resize(a: Any, new_shape: Any) -> Any:
    a = as_tensor(a)
    return _picked(a, np.resize(_numbers(a), new_shape))


def _trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> Any:
    filt = as_tensor(filt)
    shape = np.trim_zeros(values_of(filt) != 0, trim, axis).shape
    is_last = "f" in trim.lower()
    nonzero = [np.nonzero(values_of(filt).astype(bool))[each] for each in range(filt.ndim)]
    found = _numbers(filt)
    for each in axes_of(axis, filt.ndim):
        start = int(nonzero[each].min(initial=filt.shape[each])) if is_last else 0
        found = np.take(found, np.arange(start, start + shape[each]), each)
    return _picked(filt, found)


def _pad(array: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Any:
    """Padding with constants, or with elements: `edge`, `reflect`, `symmetric` and `wrap`."""
    array = as_tensor(array)
    if mode not in ("constant", "edge", "reflect", "symmetric", "wrap"):
        raise TypeError(
            f"numpy.pad of a tensor does not know mode={mode!r}: constant, edge, reflect, "
            "symmetric or wrap; or pad x.detach().numpy()"
        )
    numbers = _numbers(array)
    if mode != "constant":
        return _picked(array, np.pad(numbers, pad_width, mode))  # type: ignore[call-overload]
    places = np.pad(numbers, pad_width, constant_values=-1)
    zeros = np.zeros_like(values_of(array))
    around = as_tensor(np.pad(zeros, pad_width, constant_values=constant_values))
    if not array.numel():
        return around
    inside = _picked(array, np.maximum(places, 0))
    return ops.where(as_tensor(places >= 0), inside, around)


def _argwhere(a: Any) -> Any:
    return composites.nonzero(as_tensor(a))


def _nonzero(a: Any) -> Any:
    return composites.nonzero(as_tensor(a), as_tuple=True)


def _flatnonzero(a: Any) -> Any:
    return composites.nonzero(composites.ravel(as_tensor(a)), as_tuple=True)[0]


def _unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
) -> Any:
    ar = as_tensor(ar)
    unique: Any = np.unique
    asked = (True, return_inverse, return_counts)
    _, *rest = unique(values_of(ar), *asked, axis=axis, equal_nan=equal_nan)
    index = rest[0]
    found = _picked(ar, index) if axis is None else ops.index_select(ar, axis, as_tensor(index))
    others = [wrap(array_of(each)) for each in (rest if return_index else rest[1:])]
    return (found, *others) if others else found


def _unique_by(function: Callable[..., Any]) -> Callable[..., Any]:
    """`unique_all` and its like: tuples with names, of which the first are elements."""

    def unique(x: Any) -> Any:
        x = as_tensor(x)
        answer = function(values_of(x))
        rest = [wrap(array_of(each)) for each in answer[1:]]
        return type(answer)(_unique(x, equal_nan=False), *rest)

    return unique


def _unique_values(x: Any) -> Any:
    return _unique(x, equal_nan=False)


def _union1d(ar1: Any, ar2: Any) -> Any:
    both = [composites.ravel(as_tensor(each)) for each in (ar1, ar2)]
    return _unique(ops.cat(both, 0))


def _intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    ar1, ar2 = as_tensor(ar1), as_tensor(ar2)
    _, first, second = np.intersect1d(values_of(ar1), values_of(ar2), assume_unique, True)
    found = _picked(ar1, first)
    return (found, wrap(first), wrap(second)) if return_indices else found


def _setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    ar1 = composites.ravel(as_tensor(ar1)) if assume_unique else _unique(ar1)
    return _picked(ar1, np.flatnonzero(~np.isin(values_of(ar1), values_of(as_tensor(ar2)))))


def _setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    both = ops.cat([_setdiff1d(ar1, ar2), _setdiff1d(ar2, ar1)], 0)
    return _picked(both, np.argsort(values_of(both)))


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "argwhere": _argwhere,
    "compress": _compress,
    "delete": _delete,
    "extract": _extract,
    "flatnonzero": _flatnonzero,
    "insert": _insert,
    "intersect1d": _intersect1d,
    "nonzero": _nonzero,
    "pad": _pad,
    "partition": _partition,
    "resize": _resize,
    "setdiff1d": _setdiff1d,
    "setxor1d": _setxor1d,
    "take": _take,
    "take_along_axis": _take_along_axis,
    "trim_zeros": _trim_zeros,
    "union1d": _union1d,
    "unique": _unique,
    "unique_all": _unique_by(np.unique_all),
    "unique_counts": _unique_by(np.unique_counts),
    "unique_inverse": _unique_by(np.unique_inverse),
    "unique_values": _unique_values,
}
"""The overrides by their names in `numpy`."""

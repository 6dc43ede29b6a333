"""Functions of NumPy that change shapes, join arrays and split them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..core.tensor import Tensor
from ..dispatch.registry import ops
from ..functions import composites, splitting
from .arguments import array_of, as_tensor, as_tensors, axes_of, flat, values_of


def _transpose(a: Any, axes: Sequence[int] | None = None) -> Any:
    a = as_tensor(a)
    return ops.permute(a, tuple(reversed(range(a.ndim))) if axes is None else tuple(axes))


def matrix_transpose(x: Any) -> Any:
    """Matrices with rows and columns exchanged."""
    return ops.transpose(as_tensor(x), -1, -2)


def _reshape(a: Any, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    if order != "C" or copy is False:
        raise TypeError("reshape of a tensor takes order='C' and makes copies where it has to")
    return ops.reshape(as_tensor(a), (shape,) if isinstance(shape, int) else tuple(shape))


def _ravel(a: Any, order: str = "C") -> Any:
    if order not in ("C", "K", "A"):
        raise TypeError(f"ravel of a tensor takes order='C', not {order!r}")
    return composites.ravel(as_tensor(a))


def _squeeze(a: Any, axis: Any = None) -> Any:
    a = as_tensor(a)
    if axis is None:
        return ops.squeeze(a)
    axes = axes_of(axis, a.ndim)
    if any(a.shape[each] != 1 for each in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return ops.squeeze(a, axes)


def _expand_dims(a: Any, axis: int | Sequence[int]) -> Any:
    a = as_tensor(a)
    count = 1 if isinstance(axis, int) else len(axis)
    for place in sorted(axes_of(axis, a.ndim + count)):
        a = ops.unsqueeze(a, place)
    return a


def _repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    a, axis = flat(a, axis)
    counts = np.broadcast_to(array_of(repeats), (a.shape[axis],))
    return ops.index_select(a, axis, as_tensor(np.repeat(np.arange(a.shape[axis]), counts)))


def _tile(A: Any, reps: int | Sequence[int]) -> Any:
    return ops.tile(as_tensor(A), (reps,) if isinstance(reps, int) else tuple(reps))


def _flip(m: Any, axis: Any = None) -> Any:
    m = as_tensor(m)
    return ops.flip(m, list(axes_of(axis, m.ndim)))


def _roll(a: Any, shift: int | Sequence[int], axis: Any = None) -> Any:
    a = as_tensor(a)
    if axis is None:
        places = shift if isinstance(shift, int) else sum(shift)
        return ops.reshape(ops.roll(composites.ravel(a), [places], [0]), list(a.shape))
    axes = [axis] if isinstance(axis, int) else list(axis)
    shifts = [shift] * len(axes) if isinstance(shift, int) else list(shift)
    if len(axes) == 1 < len(shifts):
        axes = axes * len(shifts)
    return ops.roll(a, shifts, axes)


def _rot90(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Any:
    return ops.rot90(as_tensor(m), k, list(axes))


def _moveaxis(a: Any, source: Any, destination: Any) -> Any:
    return composites.movedim(as_tensor(a), source, destination)


def _rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    a = as_tensor(a)
    place = range(a.ndim)[axis]
    start = start + a.ndim if start < 0 else start
    return composites.movedim(a, place, start - (place < start))


def _swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    return ops.transpose(as_tensor(a), axis1, axis2)


def _broadcast_to(array: Any, shape: Any) -> Any:
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    return ops.broadcast_to(as_tensor(array), sizes)


def _broadcast_arrays(*args: Any) -> Any:
    return splitting.broadcast_tensors(*as_tensors(args))


def _cast(found: Tensor, joined: list[Tensor], dtype: Any, casting: Any) -> Tensor:
    """Return what was joined in a dtype, or its own; TypeError where NumPy casts no part to it."""
    wanted = found.dtype if dtype is None else np.dtype(dtype)
    for part in joined:
        if not np.can_cast(part.dtype, wanted, casting):
            raise TypeError(
                f"Cannot cast array data from {part.dtype!r} to {wanted!r} according to the rule "
                f"{casting!r}"
            )
    return found if wanted == found.dtype else found.to(wanted)


def _concatenate(
    arrays: Any, axis: int | None = 0, *, dtype: Any = None, casting: Any = "same_kind"
) -> Any:
    tensors = as_tensors(arrays)
    if axis is None:
        tensors, axis = [composites.ravel(each) for each in tensors], 0
    return _cast(ops.cat(tensors, axis), tensors, dtype, casting)


def _append(arr: Any, values: Any, axis: int | None = None) -> Any:
    return _concatenate([arr, values], axis)


def _stack(arrays: Any, axis: int = 0, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    tensors = as_tensors(arrays)
    return _cast(ops.stack(tensors, axis), tensors, dtype, casting)


def _side_by_side(function: Callable[..., Any]) -> Callable[..., Any]:
    def join(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
        tensors = as_tensors(tup)
        return _cast(function(tensors), tensors, dtype, casting)

    return join


def _column_stack(tup: Any) -> Any:
    return composites.column_stack(as_tensors(tup))


def _block(arrays: Any) -> Any:
    def depth(part: Any) -> int:
        return 1 + max(map(depth, part)) if isinstance(part, list) else 0

    def rank(part: Any) -> int:
        return max(map(rank, part)) if isinstance(part, list) else as_tensor(part).ndim

    levels = depth(arrays)
    dims = max(levels, rank(arrays))

    def assembled(part: Any, level: int) -> Any:
        if not isinstance(part, list):
            leaf = as_tensor(part)
            return ops.reshape(leaf, [*[1] * (dims - leaf.ndim), *leaf.shape])
        return ops.cat([assembled(each, level + 1) for each in part], level - levels)

    return assembled(arrays, 0)


def split_at(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Parts of a tensor along an axis; the first ones are longer where they cannot be equal."""
    wanted = values_of(indices_or_sections)
    sections = int(wanted) if np.ndim(wanted) == 0 else [int(each) for each in wanted]
    return list(composites.tensor_split(as_tensor(ary), sections, axis))


def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    ary = as_tensor(ary)
    if isinstance(indices_or_sections, int) and ary.shape[axis] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return split_at(ary, indices_or_sections, axis)


def _split_along(axis: int, least: int, name: str) -> Callable[..., Any]:
    def split(ary: Any, indices_or_sections: Any) -> list[Any]:
        ary = as_tensor(ary)
        if ary.ndim < least:
            raise ValueError(f"{name} only works on arrays of {least} or more dimensions")
        return _split(ary, indices_or_sections, 0 if ary.ndim == 1 else axis)

    return split


def _unstack(x: Any, /, *, axis: int = 0) -> Any:
    return tuple(ops.unbind(as_tensor(x), axis))


def _meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    if not copy or sparse:
        raise TypeError("meshgrid of tensors takes neither copy=False nor sparse=True")
    vectors = [composites.ravel(each) for each in as_tensors(xi)]
    return splitting.meshgrid(*vectors, indexing=indexing)


def _at_least(function: Callable[..., Any]) -> Callable[..., Any]:
    def raised(*arys: Any) -> Any:
        found = [function(each) for each in as_tensors(arys)]
        return found[0] if len(found) == 1 else tuple(found)

    return raised


def _diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return ops.diagonal(as_tensor(a), offset, axis1, axis2)


def _diag(v: Any, k: int = 0) -> Any:
    return ops.diag(as_tensor(v), k)


def _diagflat(v: Any, k: int = 0) -> Any:
    return ops.diagflat(as_tensor(v), k)


def _triangle(op: str) -> Callable[..., Any]:
    def triangle(m: Any, k: int = 0) -> Any:
        m = as_tensor(m)
        return getattr(ops, op)(_broadcast_to(m, (m.shape[0],) * 2) if m.ndim == 1 else m, k)

    return triangle


def _apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **named: Any
) -> Any:
    moved = composites.movedim(as_tensor(arr), axis, -1)
    batch = tuple(moved.shape[:-1])
    parts = [as_tensor(func1d(moved[place], *args, **named)) for place in np.ndindex(batch)]
    whole = ops.reshape(ops.stack(parts, 0), [*batch, *parts[0].shape])
    new, place = parts[0].ndim, range(moved.ndim)[axis]
    order = list(range(whole.ndim))
    last = order[len(batch) :]
    return ops.permute(whole, [*order[:place], *last, *order[place : whole.ndim - new]])


def _apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    found = as_tensor(a)
    for axis in axes_of(axes, found.ndim):
        reduced = func(found, axis)
        found = reduced if reduced.ndim == found.ndim else ops.unsqueeze(reduced, axis)
    return found


def _shape(a: Tensor) -> tuple[int, ...]:
    return tuple(a.shape)


def _ndim(a: Tensor) -> int:
    return a.ndim


def _size(a: Tensor, axis: Any = None) -> int:
    return int(np.prod([a.shape[each] for each in axes_of(axis, a.ndim)], dtype=int))


def _linear(start: Any, stop: Any, num: int, endpoint: bool) -> tuple[Any, Any, Any]:
    """Both ends as tensors, and the share of the way of each sample, in a first dimension."""
    first, last = splitting.broadcast_tensors(*as_tensors([start, stop]))
    share = np.arange(num) / max(num - 1 if endpoint else num, 1)
    places = as_tensor(share.reshape(-1, *[1] * first.ndim))
    return first, last, places.to(first.dtype) if first.is_floating_point() else places


def _linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    first, last, share = _linear(start, stop, num, endpoint)
    found = composites.movedim(first + (last - first) * share, 0, axis)
    found = found if dtype is None else found.to(dtype)
    step = (last - first) / (num - 1 if endpoint else num)
    return (found, step) if retstep else found


def _logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    found = ops.pow(as_tensor(base), _linspace(start, stop, num, endpoint, axis=axis))
    return found if dtype is None else found.to(dtype)


def _geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    first, last, share = _linear(start, stop, num, endpoint)
    found = composites.movedim(first * (last / first) ** share, 0, axis)
    return found if dtype is None else found.to(dtype)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "append": _append,
    "apply_along_axis": _apply_along_axis,
    "apply_over_axes": _apply_over_axes,
    "array_split": split_at,
    "atleast_1d": _at_least(composites.atleast_1d),
    "atleast_2d": _at_least(composites.atleast_2d),
    "atleast_3d": _at_least(composites.atleast_3d),
    "block": _block,
    "broadcast_arrays": _broadcast_arrays,
    "broadcast_to": _broadcast_to,
    "column_stack": _column_stack,
    "concat": _concatenate,
    "concatenate": _concatenate,
    "diag": _diag,
    "diagflat": _diagflat,
    "diagonal": _diagonal,
    "dsplit": _split_along(2, 3, "dsplit"),
    "dstack": _side_by_side(composites.dstack),
    "expand_dims": _expand_dims,
    "flip": _flip,
    "fliplr": lambda m: ops.fliplr(m),
    "flipud": lambda m: ops.flipud(m),
    "geomspace": _geomspace,
    "hsplit": _split_along(1, 1, "hsplit"),
    "hstack": _side_by_side(composites.hstack),
    "linspace": _linspace,
    "logspace": _logspace,
    "matrix_transpose": matrix_transpose,
    "meshgrid": _meshgrid,
    "moveaxis": _moveaxis,
    "ndim": _ndim,
    "permute_dims": _transpose,
    "ravel": _ravel,
    "repeat": _repeat,
    "reshape": _reshape,
    "roll": _roll,
    "rollaxis": _rollaxis,
    "rot90": _rot90,
    "shape": _shape,
    "size": _size,
    "split": _split,
    "squeeze": _squeeze,
    "stack": _stack,
    "swapaxes": _swapaxes,
    "tile": _tile,
    "transpose": _transpose,
    "tril": _triangle("tril"),
    "triu": _triangle("triu"),
    "unstack": _unstack,
    "vsplit": _split_along(0, 2, "vsplit"),
    "vstack": _side_by_side(composites.vstack),
}
"""The overrides by their names in `numpy`."""

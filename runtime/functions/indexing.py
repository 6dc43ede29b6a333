"""`tensor[index]` and `tensor[index] = value`.

An index is first taken apart into steps, each one op that takes a view (`select`, `slice`,
`unsqueeze`), and the integer arrays that are left over, which one gather (`index`) uses at the
end. So the graph shows the same nodes as PyTorch's, and where the two differ from NumPy
(`x[0, :, [0, 1]]`: the integer comes first, alone) it is PyTorch's answer.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from ..batching.batched import Batched
from ..core.captured import has_values, is_captured
from ..core.tensor import Tensor, wrap
from ..core.torch_function import handle_torch_function, has_torch_function_unary
from ..core.user_warnings import warn, warn_of_imaginary_part
from ..dispatch.op_errors import failure
from ..dispatch.registry import ops, table_op
from ..dtypes.kinds import COMPLEX_KINDS
from ..dtypes.number_conversion import converted
from ..dtypes.promotion import type_name
from ..forward_ad.dual import Dual
from ..inplace.fill_copy import copy_, fill_, other_dtype, put
from ..inplace.in_transforms import refuse_captured
from ..inplace.ops import (
    is_recorded,
    mark_written,
    record_write,
    refuse_any_overlap,
    refuse_inference_write,
    refuse_part,
    values_first,
)

Array: TypeAlias = np.ndarray[Any, Any]


_BOUNDS: Final = (int, type(None))
"""The types of the bounds of most slices, which need no further look."""


class Step(NamedTuple):
    """One view: the op's name, and its arguments after the tensor."""

    op: str
    args: tuple[int, ...]


class Plan(NamedTuple):
    """The plan of an index: views first, then a gather by one array (or None) per dimension."""

    steps: list[Step]
    gather: list[Array | None]
    is_one_mask: bool = False
    """True if one mask is all that the gather came of."""


def getitem(tensor: Tensor, index: Any) -> Tensor:
    """`tensor[index]`; IndexError for an index that does not fit, ValueError for a step <= 0."""
    if type(tensor) is not Tensor and has_torch_function_unary(tensor):
        return handle_torch_function(Tensor.__getitem__, (tensor,), tensor, index)
    if type(index) is int and tensor.array.ndim:
        _check_bounds(index, 0, tensor.array.shape[0])
        return ops.select(tensor, 0, index)
    if type(index) is slice and index.step is None and tensor.array.ndim:
        start, stop = index.start, index.stop
        if type(start) in _BOUNDS and type(stop) in _BOUNDS:
            return ops.slice(tensor, 0, start, stop, 1)
    if _is_recorded_number(index) and tensor.array.ndim:
        return ops.squeeze(ops.index(tensor, [index.reshape(1)]), 0)
    plan = plan_index(index, tensor.array.shape)
    result = tensor
    for step in plan.steps:
        result = table_op(step.op)(result, *step.args)
    if plan.gather:
        indices = list(map(_as_index, plan.gather))
        return ops.index(result, indices)
    return result if plan.steps else ops.alias(tensor)


def _is_recorded_number(index: Any) -> bool:
    """Return whether an index is a whole number that `gs.compile` does not know yet."""
    if type(index) is not Tensor or index.array.ndim or index.array.dtype.kind != "i":
        return False
    return is_captured(index.array)


def setitem(tensor: Tensor, index: Any, value: Any) -> None:
    """`tensor[index] = value`, in place; `value` is cast to the tensor's dtype.

    Raises RuntimeError for a leaf that requires grad, as any recorded in-place op does.
    """
    refuse_captured(tensor, "index_put_" if isinstance(index, Tensor) else "copy_")
    if type(index) is bool:
        if not index:
            return  # nothing is picked, and nothing is looked at, as in PyTorch
        index = None  # one index of everything
    if _is_filled_where_unknown(tensor, index, value):
        _fill_where_unknown(tensor, index, value)
        return
    plan = plan_index(index, tensor.array.shape, keeps_full_slices=False)
    if plan.gather and isinstance(value, Tensor) and value.dtype != tensor.dtype:
        _check_other_dtype(tensor, plan, value)
    by_ops = is_recorded(tensor, value) or type(tensor) is Dual or type(value) is Dual
    by_ops = by_ops or any(type(each) is Batched for each in (tensor, value, *plan.gather))
    by_ops = by_ops or not tensor.array.flags.writeable
    if by_ops:
        _write_recorded(tensor, plan, value)
        return
    refuse_inference_write(tensor)
    if plan.gather and isinstance(value, Tensor) and (value is not tensor or not plan.steps):
        written = _part(tensor, _target(tensor, plan)[0]) if plan.steps else tensor
        _refuse_overlap(plan, written, value)
    source = _source(tensor, value)
    record_write(tensor, source, *plan.gather)
    view, where = _target(tensor, plan)  # of the array that a recorder may have put there
    try:
        target_ndim = view[where].ndim if plan.gather else view.ndim
        while source.ndim > target_ndim and source.shape[0] == 1:
            source = source[0]
        if tensor.alias is not None and isinstance(value, Tensor) and value.alias is tensor.alias:
            _refuse_part(view, source)
        view[where] = source
    except (ValueError, IndexError) as error:
        raise failure("setitem", values_first(error, view, where, source), tensor, value) from None
    mark_written(tensor)


def _is_filled_where_unknown(tensor: Tensor, index: Any, value: Any) -> bool:
    """Return whether one number is written where a mask says so that has no values yet.

    That is a mask which `gs.compile` records: it cannot become positions.
    """
    return (
        type(index) is Tensor
        and not has_values(index.array)
        and index.array.dtype == np.bool_
        and 0 < index.array.ndim <= tensor.array.ndim
        and index.array.shape == tensor.array.shape[: index.array.ndim]
        and (not isinstance(value, Tensor) or value.array.size == 1)
    )


def _fill_where_unknown(tensor: Tensor, mask: Tensor, value: Any) -> None:
    behind = (1,) * (tensor.array.ndim - mask.array.ndim)
    if isinstance(value, Tensor):
        number = ops.reshape(value, ()).to(tensor.dtype)
    else:
        number = wrap(_source(tensor, value))
    tensor.masked_fill_(ops.reshape(mask, (*mask.array.shape, *behind)), number)


def _target(tensor: Tensor, plan: Plan) -> tuple[Array, Any]:
    """The part of the memory that the steps of a plan lead to, and the index of its elements."""
    view = tensor.array
    for step in plan.steps:
        view = _VIEWS[step.op](view, *step.args)
    where = tuple(slice(None) if array is None else array for array in plan.gather)
    return view, where or ...


def _check_other_dtype(tensor: Tensor, plan: Plan, value: Tensor) -> None:
    """Raise RuntimeError for values of another dtype, but for one that a mask fills in and that
    the dtype can hold; for those of a wrong shape, too, the error is that of the shape."""
    if not (plan.is_one_mask and value.numel() == 1):
        if has_values(tensor.array) and all(map(has_values, plan.gather)):
            _check_shape(*_target(tensor, plan), value.array.shape)
        raise other_dtype(tensor, value)
    if has_values(value.array):
        converted(value.array.item(), tensor.dtype)


def _check_shape(view: Array, where: Any, given: tuple[int, ...]) -> None:
    with suppress(IndexError):  # which the write itself raises
        shape = view[where].shape
        try:
            np.broadcast_shapes(shape, given)
        except ValueError:
            raise RuntimeError(
                f"shape mismatch: value tensor of shape {list(given)} cannot be broadcast to "
                f"indexing result of shape {list(shape)}"
            ) from None


def _part(tensor: Tensor, view: Array) -> Tensor:
    """A view of the memory of a tensor, to be compared with others that lie there."""
    part = wrap(view)
    part.alias = tensor.alias
    return part


def _refuse_overlap(plan: Plan, written: Tensor, read: Tensor) -> None:
    # A single value for a mask is read before it is written.
    if read.array.size != 1 or not plan.is_one_mask:
        # First dimensions of length one are dropped by a view.
        refuse_any_overlap(written, read, as_view=read.array.shape[:1] == (1,))


def _refuse_part(view: Array, source: Array) -> None:
    # Where the source is broadcast PyTorch does not look.
    if source.shape == view.shape:
        refuse_part(view, source)


def _write_recorded(tensor: Tensor, plan: Plan, value: Any) -> None:
    """Take the views of the plan, and write through the last with an in-place op."""
    view = tensor
    for step in plan.steps:
        view = table_op(step.op)(view, *step.args)
    source = value if isinstance(value, Tensor) else wrap(_source(tensor, value))
    if plan.gather:
        indices = list(map(_as_index, plan.gather))
        _refuse_overlap(plan, view, source)
        put(view, indices, source)
        return
    source = _broadcast_as_pytorch(source, view)
    if source.array.ndim == 0 and view.array.ndim:
        fill_(view, source)
    else:
        copy_(view, source)


def _broadcast_as_pytorch(source: Tensor, view: Tensor) -> Tensor:
    """The source as the copy sees it: by the same ops, so that the graph is the same."""
    shape = source.array.shape
    surplus = len(shape) - view.array.ndim
    if surplus > 0 and all(length == 1 for length in shape[:surplus]):
        source = ops.view(source, shape[surplus:])
    if source.array.ndim and source.array.shape != view.array.shape:
        source = ops.expand(source, view.array.shape)
    return source


def _source(tensor: Tensor, value: Any) -> Array:
    """The array to write, of the tensor's dtype."""
    target = tensor.array.dtype
    if isinstance(value, Tensor):
        array = value.array
        if array.dtype.kind == "c" and target.kind not in (*COMPLEX_KINDS, "b"):
            warn_of_imaginary_part()
            array = array.real
    elif isinstance(value, bool | int | float | complex | np.number | np.bool_):
        array = np.asarray(converted(value, target))
    else:
        raise TypeError(f"can't assign a {type(value).__name__} to a tensor of {target}")
    return array.astype(target, copy=False)


def _at(dim: int, index: int | slice) -> tuple[Any, ...]:
    return (*(slice(None),) * dim, index)


def _select(array: Array, dim: int, index: int) -> Any:
    return array[(*_at(dim, index), ...)]  # the ellipsis: an array even if it is 0-dim


def _slice(array: Array, dim: int, start: int, end: int, step: int) -> Any:
    return array[_at(dim, slice(start, end, step))]


_VIEWS: Final[dict[str, Callable[..., Array]]] = {
    "select": _select,
    "slice": _slice,
    "unsqueeze": np.expand_dims,
}
"""The steps on arrays, for writing through the view."""


def plan_index(index: Any, shape: Sequence[int], *, keeps_full_slices: bool = True) -> Plan:
    """Take an index apart; `shape` is that of the tensor.

    With `keeps_full_slices` a lone `[:]` is a step, the view that reading it gives.
    """
    given = index if type(index) is tuple or _stands_for_tuple(index) else (index,)
    items = [_normalize(item) for item in given]
    specified = sum(map(_dims_taken, items))
    if specified > len(shape):
        if not shape:
            raise IndexError(
                "invalid index of a 0-dim tensor: use item() to get its value as a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    planner = _Planner(shape, keeps_full_slices=keeps_full_slices and len(items) == 1)
    for item in items:
        if item is Ellipsis:
            planner.dim += len(shape) - specified
        else:
            planner.add(item)
    return planner.plan()


def _stands_for_tuple(index: Any) -> bool:
    """Return whether a list is a tuple of indices, as lists are in PyTorch that hold indices."""
    if not isinstance(index, list | range) or len(index) >= _LONGEST_TUPLE:
        return False
    if not any(item is None or isinstance(item, _INDICES) for item in index):
        return False
    warn(
        "A list that holds lists, tensors or slices is an index for each dimension, as in PyTorch: "
        "write x[tuple(index)] for that, or x[gs.tensor(index)] for one index of many dimensions."
    )
    return True


_LONGEST_TUPLE: Final = 32
_INDICES: Final = (Tensor, np.ndarray, list, tuple, range, slice, str, type(...))


class _Planner:
    """Follows the shape through the steps, from the first dimension to the last."""

    def __init__(self, shape: Sequence[int], keeps_full_slices: bool) -> None:
        self.shape = list(shape)
        self.dim = 0
        self._steps: list[Step] = []
        self._arrays: dict[int, Array] = {}
        self._masks = self._tensors = self._selected = 0
        self._keeps_full_slices = keeps_full_slices
        """`x[:]` is a view by `slice`, as in PyTorch; in `x[:, 0]` the first item is nothing."""

    def plan(self) -> Plan:
        last = max(self._arrays, default=-1)
        gather = [self._arrays.get(dim) for dim in range(last + 1)]
        return Plan(self._steps, gather, self._masks == self._tensors == 1)

    def add(self, item: Any) -> None:
        """Plan for one item of the index, at the current dimension."""
        if item is None:
            self._unsqueeze()
            self.dim += 1
        elif isinstance(item, slice):
            self._slice(item)
        elif isinstance(item, int):
            _check_bounds(item, self.dim + self._selected, self.shape[self.dim])
            self._selected += 1
            self._steps.append(Step("select", (self.dim, item)))
            del self.shape[self.dim]
        elif item.dtype.kind == "b":
            self._masks += item.ndim > 0
            self._tensors += 1
            self._mask(item)
        else:
            self._tensors += 1
            self._gather(item)

    def _unsqueeze(self) -> None:
        self._steps.append(Step("unsqueeze", (self.dim,)))
        self.shape.insert(self.dim, 1)

    def _slice(self, item: slice) -> None:
        length = self.shape[self.dim]
        if item.step is not None and operator.index(item.step) <= 0:
            zero = operator.index(item.step) == 0
            raise ValueError(
                "slice step cannot be zero" if zero else "step must be greater than zero"
            )
        start, stop, step = item.indices(length)
        stop = max(start, stop)
        # A start counted from the end is a view, even if it is the first.
        is_full = (start, stop, step) == (0, length, 1) and not item.start
        if self._keeps_full_slices or not is_full:
            self._steps.append(Step("slice", (self.dim, start, stop, step)))
            self.shape[self.dim] = len(range(start, stop, step))
        self.dim += 1

    def _mask(self, mask: Array) -> None:
        """A mask becomes the positions at which it is true, one array per dimension."""
        if mask.ndim == 0:
            self._unsqueeze()
            self._gather(np.arange(int(mask)))
            return
        covered = tuple(self.shape[self.dim : self.dim + mask.ndim])
        if covered != mask.shape:
            at = next(i for i in range(mask.ndim) if mask.shape[i] != covered[i])
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {at} does not match the shape "
                f"of the indexed tensor {self.shape} at index {self.dim + at}"
            )
        for positions in np.nonzero(mask):
            self._gather(positions)

    def _gather(self, positions: Array) -> None:
        self._arrays[self.dim] = positions
        self.dim += 1


def _normalize(item: Any) -> Any:
    """None, Ellipsis, a slice, an int, or an array of int64 or bool."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if isinstance(item, int | np.integer) and not isinstance(item, bool):
        return int(item)
    if type(item) is Batched:
        return _batched_index(item)
    if isinstance(item, Tensor):
        array = item.array
        if array.ndim and array.dtype in (np.int8, np.int16):  # a single one counts as an int
            raise IndexError(
                "tensors used as indices must be long, int, byte or bool tensors, not "
                f"{type_name(array.dtype)}"
            )
    elif isinstance(item, np.ndarray | bool | np.bool_ | list | tuple | range):
        array = np.asarray(_without_tensors(item))
        if not array.size and not isinstance(item, np.ndarray):
            array = array.astype(np.int64)  # an empty list says nothing about its dtype
    elif isinstance(item, str | bytes):
        raise TypeError(f"invalid data type '{type(item).__name__}' of an index")
    else:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and integer or bool tensors are "
            f"valid indices (got {type(item).__name__})"
        )
    if array.dtype.kind not in "iub":
        raise IndexError(
            f"tensors used as indices must be long, int, byte or bool tensors, not {array.dtype}"
        )
    if array.dtype == np.uint8:
        if array.ndim:
            warn("indexing with dtype uint8, as with a mask, is deprecated: use a bool tensor.")
        return array.astype(np.bool_)  # PyTorch's masks before it had bools
    if array.dtype.kind == "b":
        return array
    return int(array) if array.ndim == 0 else array.astype(np.int64, copy=False)


def _batched_index(index: Batched) -> Batched:
    """An index that differs between the examples of `vmap`; RuntimeError for a mask."""
    if index.dtype.kind not in "iu":
        raise RuntimeError(
            "vmap: It looks like you're attempting to index by a boolean mask, which gives as many "
            "elements as it is true of, another number for each example: use where()"
        )
    return index


def _as_index(array: Any) -> Any:
    return array if array is None or isinstance(array, Tensor) else wrap(array)


def _without_tensors(item: Any) -> Any:
    if isinstance(item, list | tuple):
        return [_without_tensors(part) for part in item]
    return item.array if isinstance(item, Tensor) else item


def _dims_taken(item: Any) -> int:
    """Count the dimensions of the tensor that an item of the index uses up."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, np.ndarray) and item.dtype.kind == "b" else 1


def _check_bounds(index: int, dim: int, length: int) -> None:
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {length}")


class IndexingMethods:
    """Methods of `Tensor` behind square brackets."""

    __slots__ = ()

    __getitem__ = getitem
    __setitem__ = setitem

    def __delitem__(self, index: Any) -> None:
        """Raise TypeError: a tensor has all its elements."""
        raise TypeError("Tensor does not support deleting items")

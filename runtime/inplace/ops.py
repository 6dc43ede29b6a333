"""In-place ops: the out-of-place op, written back into the tensor's own memory.

The node of the op saves a copy of what the tensor held before, and the tensor takes over its
history; all others that had saved the tensor find its version changed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final, Literal

import numpy as np

from ..batching.batched import Batched
from ..core.modes import is_grad_enabled, is_inference_mode_enabled
from ..core.node import Node, OutputNode
from ..core.storage import INFERENCE_ALIAS, base_of, own_alias
from ..core.tensor import Tensor
from ..core.torch_function import handle_torch_function, has_torch_function_unary
from ..dispatch.op_errors import failure
from ..dtypes.promotion import check_inplace_dtype, type_name
from ..forward_ad.dual import Dual, without_tangents
from ..forward_ad.inplace_tangents import copy_as, copy_or_zero, follow_source
from ..graph.saved_values import guard_saved_output, saved_output_slot
from ..kernels.shape.strided_region import Region
from .allowed_mutation import keep_saved
from .in_transforms import copy_examples, refuse_captured, refuse_examples, write_examples
from .old_scalars import with_scales_named
from .overwrite_nodes import overwrite_node_of
from .rebase_history import check_recordable, hand_over_retained, rebase, refresh_views

_INDEXED_WRITES: Final = frozenset(
    [
        *("index_fill_", "index_copy_", "index_add_", "index_reduce_"),
        *("scatter_", "scatter_add_", "scatter_reduce_"),
    ]
)
"""Ops that write at indices, in an order of their own: what they read must lie elsewhere."""

_FILLS: Final = frozenset(["masked_fill_", "index_fill_", "tril_", "triu_"])
"""Ops that write one number at indices, which may be elements that are one in memory."""

_SCANS: Final = frozenset(["cumsum_", "cumprod_"])
"""In-place ops that take a dtype, which can only be that of the tensor."""


def in_place(function: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """The in-place method of an op: `x.add_(y)` for `add(x, y)`.

    Raises RuntimeError for a leaf that requires grad or a view of one, for a view whose history
    cannot be rewritten, and where the result has another shape or a dtype that the tensor cannot
    hold.
    """

    is_indexed, is_fill = name in _INDEXED_WRITES, name in _FILLS

    @functools.wraps(function)
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if type(self) is not Tensor and has_torch_function_unary(self):
            return handle_torch_function(method, (self,), self, *args, **kwargs)
        refuse_captured(self, name)
        if type(self) is Batched:
            recording = is_recorded(self, *args, *kwargs.values())
            before = copy_examples(self) if recording else self
            return write_examples(self, function(before, *args, **kwargs))
        refuse_examples(self, *args, *kwargs.values())
        written = without_tangents(self)
        if is_indexed or is_fill or written.alias is not None:
            _refuse_overlap(written, name, [*args, *kwargs.values()])
        recording = is_recorded(written, *args, *kwargs.values())
        before = self
        if recording:
            check_recordable(written, name)
            before = copy_as(self)
        try:
            result = function(before, *args, **kwargs)
        except TypeError:
            old = with_scales_named(name, args)
            if old is None:
                raise
            result = function(before, *old[0], **old[1], **kwargs)
        _check(written, result, name, kwargs)
        if is_fill and not _is_dense(written.array):
            chosen = _differing(written.array, result.array)
            write(written, result.array[chosen], chosen)
        else:
            write(written, result.array)
        if recording and result.grad_node is not None:
            _keep_output(written, result)
            rebase_history(written, result.grad_node)
        elif recording:
            _pass_zeros(written, function.__name__, args)
        if self is not written or type(result) is Dual:
            follow_source(self, [result], copy_or_zero)
        return self

    method.__name__ = method.__qualname__ = name
    return method


def is_recorded(*args: object) -> bool:
    """Return whether an op on `args` leaves a node behind."""
    return is_grad_enabled() and any(_asks_for_gradient(arg) for arg in args)


def _asks_for_gradient(value: object) -> bool:
    return isinstance(value, Tensor) and value.grad_node is not None


def refuse_partial_overlap(written: Tensor, *read: object) -> None:
    """Raise RuntimeError if what is read overlaps a part of what is written."""
    for tensor in read:
        if isinstance(tensor, Tensor) and tensor.alias is written.alias:
            refuse_part(written.array, tensor.array)


def refuse_part(written: Any, read: Any) -> None:
    """Raise RuntimeError if an array that is read overlaps a part of what is written."""
    if _overlap_of(written, read) == "partial":
        raise _overlap()


def _refuse_overlap(written: Tensor, name: str, read: list[Any]) -> None:
    """Raise RuntimeError if an in-place op must not read where it writes."""
    if name in _INDEXED_WRITES or name in _FILLS:  # a number is read before anything is written
        read = [tensor for tensor in read if isinstance(tensor, Tensor) and tensor.array.ndim]
    if name in _INDEXED_WRITES:
        for tensor in read:
            refuse_any_overlap(written, tensor)
    elif written.alias is not None:
        refuse_partial_overlap(written, *read)


def refuse_any_overlap(written: Tensor, read: Tensor, *, as_view: bool = False) -> None:
    """Raise RuntimeError if what is read overlaps what is written, even if it is the same.

    A tensor that is read `as_view` may be the one that is written if its elements have gaps.
    """
    if read is written and not as_view:
        raise _overlap()
    shared = read is written or (read.alias is not None and read.alias is written.alias)
    if shared and _overlap_of(written.array, read.array) != "none":
        raise _overlap()


def _overlap_of(a: Any, b: Any) -> Literal["none", "partial", "full"]:
    """Compare the memory of two arrays, where both lie without gaps, as in PyTorch."""
    if not (a.size and b.size and _is_dense(a) and _is_dense(b)):
        return "none"
    if not np.may_share_memory(a, b):
        return "none"
    return "full" if _is_same(a, b) else "partial"


def _is_same(a: Any, b: Any) -> bool:
    """Return whether two arrays show the same elements in the same order."""
    one_place = a.ctypes.data == b.ctypes.data and a.itemsize == b.itemsize
    return one_place and a.shape == b.shape and _steps(a) == _steps(b)


def _is_dense(array: Any) -> bool:
    """Return whether the elements lie without gaps, in any order of the dimensions."""
    expected = array.itemsize
    for stride, length in sorted(
        zip(_steps(array), (n for n in array.shape if n != 1), strict=True)
    ):
        if stride != expected:
            return False
        expected *= length
    return True


def _steps(array: Any) -> list[int]:
    """The strides that matter: those of dimensions with more than one element."""
    return [stride for stride, size in zip(array.strides, array.shape, strict=True) if size != 1]


def _overlap() -> RuntimeError:
    return RuntimeError(
        "unsupported operation: some elements of the input tensor and the written-to tensor "
        "refer to a single memory location. Please clone() the tensor before the operation."
    )


def rebase_history(tensor: Tensor, node: Node) -> None:
    """Make `node`, of the op that computed the new values, the history of `tensor`.

    The first edge of `node` leads to where the gradient of `tensor` went before.
    """
    base = base_of(tensor)
    if base is not None:
        rebase(tensor, base, node)
        return
    hand_over_retained(tensor, node)
    tensor.grad_node = node
    refresh_views(tensor)


def _pass_zeros(written: Tensor, name: str, args: tuple[Any, ...]) -> None:
    """Record an op without a slope, a comparison: what was there before has no gradient."""
    if written.grad_node is not None:
        number = int(bool(args) and isinstance(args[0], Tensor))
        rebase_history(written, overwrite_node_of(name, number)(written.grad_node))


def _keep_output(tensor: Tensor, result: Tensor) -> None:
    """A node that saved its result has saved what `tensor` now holds: the same memory."""
    grad_node = result.grad_node
    assert grad_node is not None
    node = grad_node.node if isinstance(grad_node, OutputNode) else grad_node
    slot = saved_output_slot(node, result.array)
    if slot is not None:
        setattr(node, slot, tensor.array)
        own_alias(tensor).add_saver(node, slot)


def refuse_inference_write(tensor: Tensor) -> None:
    """Raise RuntimeError for an inference tensor, outside of inference mode."""
    if tensor.alias is INFERENCE_ALIAS and not is_inference_mode_enabled():
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed: clone() it "
            "outside of the mode to get a normal tensor."
        )


def write(tensor: Tensor, values: Any, where: Any = ...) -> None:
    """Overwrite elements of `tensor`; nodes that saved it can tell by the version."""
    refuse_inference_write(tensor)
    record_write(tensor, values, *(where if type(where) is tuple else (where,)))
    try:
        if tensor.array.flags.writeable:
            tensor.array[where] = values
        else:
            _write_through(tensor.array, values, where)
    except (ValueError, IndexError) as error:
        reason = values_first(error, tensor.array, where, values)
        raise failure("write", reason, tensor, values) from None
    mark_written(tensor)


def record_write(tensor: Tensor, *read: Any) -> None:
    """Prepare for a write: saved values are kept, and what `compiler` records of it is recorded."""
    keep_saved(tensor)
    for array in read:
        if type(array) is not np.ndarray and hasattr(array, "adopt"):
            array.adopt(tensor)


def values_first(error: Exception, written: Any, where: Any, values: Any) -> Exception:
    """The error of a failed write: that of the values' shape if that is wrong, too."""
    if isinstance(error, IndexError) and isinstance(where, tuple) and written.size:
        valid = tuple(np.zeros_like(i) if isinstance(i, np.ndarray) else i for i in where)
        try:
            np.broadcast_shapes(written[valid].shape, np.shape(values))
        except ValueError as misfit:
            return misfit
    return error


def _write_through(view: Any, values: Any, where: Any) -> None:
    """Overwrite elements of an expanded array, or a view of one, which NumPy makes read-only.

    RuntimeError where elements are one in memory and the whole is to be overwritten, other than
    with one number or with itself.
    """
    if where is ... and isinstance(values, np.ndarray) and 0 in _steps(view):
        if _is_same(view, values) or not view.size:
            return
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to "
            "a single memory location. Please clone() the tensor before the operation."
        )
    if hasattr(view, "adopt"):  # is recorded: `compiler`
        view[where] = values
        return
    owner = _owner_of(view)
    owner = owner if owner.ndim else owner.reshape(1)
    positions = Region(owner, view).positions[where]
    owner[np.unravel_index(positions, owner.shape)] = values


def _owner_of(view: Any) -> Any:
    """The array that can be written to of those that an array is a view of, in its dtype."""
    owner = view
    while not owner.flags.writeable and (base := _array_below(owner)) is not None:
        owner = base
    if owner.dtype != view.dtype:  # complex numbers and their parts
        is_part = owner.itemsize > view.itemsize
        owner = (owner[..., np.newaxis] if is_part else owner).view(view.dtype)
    return owner


def _array_below(view: Any) -> Any:
    """The array that a view is made of, past the objects with which NumPy changes strides."""
    base = view.base
    while base is not None and not isinstance(base, np.ndarray):
        base = getattr(base, "base", None)
    return base


def sums_at(array: Any, where: Any, values: Any) -> Any:
    """Return the elements at some indices once `values` are added there, one after the other."""
    from ..kernels.indexing.gather_scatter import add_at_key  # kernels wait for their first use

    if _is_dense(array):
        total = array.copy()
        add_at_key(total, where, values)
        return total[where]
    # Elements that are one in memory are one sum.
    steps = (
        step * np.arange(length) for step, length in zip(array.strides, array.shape, strict=True)
    )
    addresses: Any = functools.reduce(np.add.outer, steps, np.zeros((), np.intp))
    distinct, places = np.unique(addresses, return_inverse=True)
    places = places.reshape(array.shape)
    total = np.empty(distinct.shape, array.dtype)
    total[places] = array
    add_at_key(total, places[where], values)
    return total[places[where]]


def _differing(before: Any, after: Any) -> Any:
    """Find the elements that an op has changed; what was NaN and still is has not changed."""
    return (before != after) & ~((before != before) & (after != after))


def mark_written(tensor: Tensor) -> None:
    """Count a write to the memory of `tensor`, and warn the nodes that saved it as their output."""
    alias = own_alias(tensor)
    if alias is INFERENCE_ALIAS:
        return
    if alias.creator is None and not alias.savers and alias.forget_dead_views():
        alias.version += 1
        return
    base = base_of(tensor)
    root = tensor if base is None else base
    creator = None if alias.creator is None else alias.creator()
    if creator is not None:
        node = creator.node if isinstance(creator, OutputNode) else creator
        slot = saved_output_slot(node, root.array)
        if slot is not None:
            guard_saved_output(node, slot, alias, 0)
    alias.creator = None
    for saver, saved_in, version in alias.savers:
        saved_by = saver()
        if saved_by is not None:
            guard_saved_output(saved_by, saved_in, alias, version)
    alias.savers.clear()
    alias.version += 1
    alias.written_over = len(alias.views)
    for viewed in alias.bases():
        refresh_views(viewed)


def _check(tensor: Tensor, result: Tensor, name: str, given: dict[str, Any]) -> None:
    if result.array.shape != tensor.array.shape:
        raise RuntimeError(
            f"{name}(): output with shape {list(tensor.shape)} doesn't match the broadcast shape "
            f"{list(result.shape)}"
        )
    found, wanted = result.array.dtype, tensor.array.dtype
    if found is wanted:
        return
    if name in _SCANS:
        _check_scan(found, wanted, name, given.get("dtype"))
    if found.kind == "f" and wanted.kind == "c":
        raise RuntimeError(f"In-place {name.rstrip('_')} is not supported for complex tensors.")
    if name == "float_power_" and found != wanted:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {type_name(wanted)} but the operation's "
            f"result requires dtype {type_name(found)}"
        )
    check_inplace_dtype(found, wanted)


def _check_scan(found: np.dtype[Any], wanted: np.dtype[Any], name: str, asked: Any) -> None:
    """Refuse a scan in another dtype than that of its tensor, and one of bools."""
    if asked is not None:
        raise RuntimeError(
            f"Bad in-place call: input tensor dtype {type_name(wanted)} and output tensor dtype "
            f"{type_name(found)} should match"
        )
    if wanted.kind == "b":
        raise NotImplementedError(
            f"\"{name.rstrip('_')}_out_cpu\" not implemented for '{type_name(wanted)}'"
        )

"""Ops that replace what a tensor holds: `copy_`, `fill_`, `zero_`, `index_put_`.

No gradient flows to the values that were there before; it flows to the values written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..batching.batched import Batched
from ..core.node import Node, freed_graph
from ..core.tensor import Tensor, wrap
from ..core.user_warnings import warn, warn_of_imaginary_part
from ..dispatch.registry import ops
from ..dispatch.unbroadcast import reduce_to_differentiable
from ..dtypes.kinds import COMPLEX_KINDS
from ..dtypes.number_conversion import converted
from ..dtypes.promotion import type_name
from ..forward_ad.dual import Dual, without_tangents
from ..forward_ad.inplace_tangents import WriteTangent, copy_or_zero, follow_source
from ..graph.anomaly import remember_call
from ..kernels.reductions.unbroadcast import ShapeDtype, reduce_to
from .in_transforms import refuse_captured, write_examples
from .ops import (
    is_recorded,
    rebase_history,
    refuse_any_overlap,
    refuse_partial_overlap,
    sums_at,
    write,
)
from .overwrite_nodes import OverwriteNode
from .rebase_history import check_recordable

if TYPE_CHECKING:
    from collections.abc import Callable


class ZeroBackward0(OverwriteNode):
    """The node of `zero_`."""

    __slots__ = ()


class FillBackward2(OverwriteNode):
    """The node of `fill_` with a number."""

    __slots__ = ()


class _CopyNode(OverwriteNode):
    """The node of an op that writes the elements of a tensor."""

    __slots__ = ("_like",)

    def __init__(self, grad_node: Node | None, source: Tensor) -> None:
        super().__init__(grad_node, source.grad_node)
        self._like: ShapeDtype = (source.array.shape, source.array.dtype)

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """The VJP on arrays."""
        (before,) = super().apply(grad, needs)
        return (before, reduce_to(grad, self._like) if needs[1] else None)

    def apply_differentiable(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """The VJP on tensors."""
        (before,) = super().apply_differentiable(grad, needs)
        return (before, reduce_to_differentiable(grad, self._like) if needs[1] else None)


class FillBackward3(_CopyNode):
    """The node of `fill_` with a 0-dim tensor."""

    __slots__ = ()


class CopyBackwards(_CopyNode):
    """The node of `copy_`."""

    __slots__ = ()

    def name(self) -> str:
        """The name of the node, as PyTorch has it, with its namespace."""
        return "torch::autograd::CopyBackwards"


class IndexPutBackward0(OverwriteNode):
    """The node of `index_put_`: the gradient of the elements written goes to the values."""

    __slots__ = ("_accumulate", "_indices", "_like")

    def __init__(
        self, grad_node: Node | None, values: Tensor, indices: tuple[Any, ...], accumulate: bool
    ) -> None:
        super().__init__(grad_node, values.grad_node)
        self._like: ShapeDtype = (values.array.shape, values.array.dtype)
        self._indices: tuple[Any, ...] | None = indices
        self._accumulate = accumulate

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """The VJP on arrays."""
        indices = self._saved_indices()
        before = grad if needs[0] else None
        if needs[0] and not self._accumulate:
            before = grad.copy()
            before[indices] = 0
        return (before, reduce_to(grad[indices], self._like) if needs[1] else None)

    def apply_differentiable(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """The VJP on tensors."""
        where = self._saved_indices()
        before = grad if needs[0] else None
        if needs[0] and not self._accumulate:
            kept = np.ones(grad.array.shape, grad.array.dtype)
            kept[where] = 0
            before = grad * wrap(kept)
        if not needs[1]:
            return (before, None)
        indices = [None if isinstance(i, slice) else wrap(i) for i in where]
        return (before, reduce_to_differentiable(ops.index(grad, indices), self._like))

    def release(self) -> None:
        """Let go of the indices."""
        self._indices = None

    def _saved_indices(self) -> tuple[Any, ...]:
        if self._indices is None:
            raise freed_graph()
        return self._indices


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write the elements of `src`, a tensor or a number, broadcast and cast to this tensor."""
    refuse_captured(self, "copy_")
    return copy_into(self, src)


def copy_into(self: Tensor, src: Any) -> Tensor:
    """`copy_` to what a transform may have captured: results of ops with `out=`."""
    if isinstance(src, bool | int | float | complex):
        src = wrap(np.asarray(src))
    if not isinstance(src, Tensor):
        raise TypeError(
            f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}"
        )
    if type(self) is Batched or type(src) is Batched:
        return write_examples(self, src)
    if src.array.dtype.kind == "c" and self.array.dtype.kind not in (*COMPLEX_KINDS, "b"):
        warn_of_imaginary_part()
    if len(src.array.shape) > len(self.array.shape):
        raise RuntimeError(
            f"The size of tensor a ({list(self.shape)}) must match the size of tensor b "
            f"({list(src.shape)}): copy_() cannot drop dimensions"
        )
    if self.alias is not None:
        refuse_partial_overlap(self, src)
    return overwrite(
        self,
        "copy_",
        src.array,
        [] if self.array.dtype.kind in "iub" else [src],  # whole numbers have no slope
        lambda old: CopyBackwards(old, src),
        copy_or_zero,
    )


def fill_(self: Tensor, value: Any) -> Tensor:
    """Write one number, or the only element of a 0-dim tensor, everywhere."""
    refuse_captured(self, "fill_")
    if isinstance(value, str | bytes | list | tuple | None):
        raise TypeError(f"fill_() expects a number or a Tensor, but got {type(value).__name__}")
    if type(self) is Batched or type(value) is Batched:
        return write_examples(self, value)
    if not isinstance(value, Tensor):
        return overwrite(self, "fill_", converted(value, self.dtype), [], FillBackward2)
    if value.array.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.array.ndim} dimensions."
        )
    return overwrite(
        self,
        "fill_",
        value.array,
        [value],
        lambda old: FillBackward3(old, value),
        copy_or_zero,
    )


def zero_(self: Tensor) -> Tensor:
    """Write zeros."""
    refuse_captured(self, "zero_")
    if type(self) is Batched:
        return write_examples(self, 0)
    return overwrite(self, "zero_", 0, [], ZeroBackward0)


def index_put_(
    self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Write (or add) `values` at `indices`, one array per dimension."""
    refuse_captured(self, "index_put_")
    for index in indices:
        if index is not None and index.dtype == np.uint8:
            warn("indexing with dtype uint8, as with a mask, is deprecated: use a bool tensor.")
    if any(type(each) is Batched for each in (self, values, *indices)):
        return write_examples(self, ops.index_put(self, indices, values, accumulate))
    if values.array.size != 1 or accumulate or not is_one_mask(indices):
        if values.array.dtype != self.array.dtype:
            raise other_dtype(self, values)
        refuse_any_overlap(self, values)
    return put(self, indices, values, accumulate)


def other_dtype(written: Tensor, values: Tensor) -> RuntimeError:
    """The error of values that are written to indices of a tensor of another dtype."""
    return RuntimeError(
        "Index put requires the source and destination dtypes match, got "
        f"{type_name(written.dtype)} for the destination and {type_name(values.dtype)} for the "
        "source."
    )


def is_one_mask(indices: Sequence[Tensor | None]) -> bool:
    """Return whether only one mask is given: then a single value is read before it is written."""
    given = [index.array.dtype.kind for index in indices if index is not None]
    return given == ["b"]


def put(
    self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """`index_put_` of values that do not lie on what is written, or of a single one."""
    if any(type(each) is Batched for each in (self, values, *indices)):
        return write_examples(self, ops.index_put(self, indices, values, accumulate))
    from ..kernels.indexing.advanced import index_array  # kernels are imported when one is needed

    where: tuple[Any, ...] = tuple(
        slice(None) if index is None else index_array(index.array) for index in indices
    )
    written = values.array.astype(self.array.dtype, copy=values.array.size == 1)
    if accumulate:
        written = sums_at(self.array, where, written)

    def put_tangent(tangent: Tensor, of_values: Tensor | None) -> None:
        if of_values is None:
            of_values = wrap(np.zeros((), tangent.array.dtype))
        put(tangent, indices, of_values, accumulate)

    return overwrite(
        self,
        "index_put_",
        written,
        [values],
        lambda grad_node: IndexPutBackward0(grad_node, values, where, accumulate),
        put_tangent,
        where,
    )


def overwrite(
    tensor: Tensor,
    name: str,
    values: Any,
    sources: Sequence[Tensor],
    make_node: Callable[[Node | None], Node],
    write_tangent: WriteTangent = copy_or_zero,
    where: Any = ...,
) -> Tensor:
    """Write `values`, and record it with the node that `make_node(edge of tensor)` makes."""
    written = without_tangents(tensor)
    recording = is_recorded(written, *sources)
    if recording:
        check_recordable(written, name)
    # Made before the write, by which a source that is a view may lose its history.
    node = make_node(written.grad_node) if recording else None
    write(written, values, where)
    if node is not None:
        remember_call(node)
        rebase_history(written, node)
    if tensor is not written or any(type(source) is Dual for source in sources):
        follow_source(tensor, sources, write_tangent)
    return tensor


class OverwriteMethods:
    """Methods of `Tensor` that overwrite it without reading it."""

    __slots__ = ()

    copy_ = copy_
    fill_ = fill_
    zero_ = zero_
    index_put_ = index_put_

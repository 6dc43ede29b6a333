"""Views that take part in in-place ops: how the histories of base and views follow the write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ref

from ..core.accumulate_grad import leads_nowhere, nowhere
from ..core.invalid_view import StaleView
from ..core.node import Node, freed_graph, next_sequence_nr
from ..core.storage import base_of, view_kind
from ..core.tensor import Tensor, wrap
from ..core.view_errors import MODIFIED, view_refusal
from ..dispatch.registry import ops
from ..graph.anomaly import remember_call
from ..graph.run_hooks import run_with_saved
from ..kernels.shape.strided_region import Region


class AsStridedBackward0(Node):
    """Gradient of a view with respect to its base, for any region that the view is."""

    __slots__ = ("_region",)
    op = "as_strided"

    def __init__(self, base_edge: Node | None, region: Region) -> None:
        self.next_nodes = (base_edge,)
        self.hooks = None
        self.sequence_nr = next_sequence_nr()
        self._region = region

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """Zeros but for the view's elements."""
        return (self._region.scatter(grad),)

    def apply_differentiable(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """Scatter the gradient by recorded ops."""
        return (_scatter(self._region, grad),)


class CopySlices(Node):
    """Gradient of a base one of whose views was modified in place by the op of `fn`.

    The gradient of the elements that the view shows goes through `fn`; that of the others passes.
    """

    is_ordinary = False  # what `fn` saved may be unpacked by hooks

    __slots__ = ("_region", "fn")

    def name(self) -> str:
        """The name of the node, as PyTorch has it, with its namespace."""
        return "torch::autograd::CopySlices"

    def __init__(self, base_edge: Node | None, fn: Node, region: Region) -> None:
        self.fn: Node | None = fn
        """None after the graph has been freed."""
        self.next_nodes = (base_edge, *fn.next_nodes[1:])
        self.hooks = None
        self.sequence_nr = next_sequence_nr()
        self._region = region

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """The VJP on arrays."""
        inside = self._region.take(grad)
        first, *others = run_with_saved(self._saved_fn(), inside, needs, on_tensors=False)
        if not needs[0]:
            return (None, *others)
        return (self._region.put(grad, 0 if first is None else first), *others)

    def apply_differentiable(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """The VJP on tensors."""
        inside = _take(self._region, grad)
        first, *others = run_with_saved(self._saved_fn(), inside, needs, on_tensors=True)
        if not needs[0]:
            return (None, *others)
        rest = grad - _scatter(self._region, inside)
        return (rest if first is None else rest + _scatter(self._region, first), *others)

    def _saved_fn(self) -> Node:
        if self.fn is None:
            raise freed_graph()
        return self.fn

    def release(self) -> None:
        """Let go of the in-place op, and with it of what that saved."""
        self.fn = None


def _take(region: Region, tensor: Tensor) -> Tensor:
    if region.splits_base:
        tensor = ops.view_as_real(tensor)
    flat = ops.view(tensor, (-1,), copy=True)
    found = ops.index(flat, [wrap(region.positions)])
    return ops.view_as_complex(found) if region.splits_view else found


def _scatter(region: Region, values: Tensor) -> Tensor:
    if region.splits_view:
        values = ops.view_as_real(values)
    size = 1
    for length in region.base_shape:
        size *= length
    flat = ops._index_backward(values, (size,), [wrap(region.positions)])
    whole = ops.view(flat, region.base_shape)
    return ops.view_as_complex(whole) if region.splits_base else whole


def rebase(view: Tensor, base: Tensor, fn: Node) -> None:
    """The base, and with it every view, takes over what an in-place op did to `view`."""
    node = CopySlices(base.grad_node, fn, Region(base.array, view.array))
    remember_call(node)
    hand_over_retained(base, node)
    base.grad_node = node
    refresh_views(base)


def hand_over_retained(tensor: Tensor, node: Node) -> None:
    """Let `node`, the next of `tensor`, keep the gradient if the one until now does."""
    before = None if tensor.grad_node is None else tensor.grad_node.tensor_hooks()
    if before is not None and before.retain is not None:
        node._own_hooks().retain = before.retain
        before.retain = None


def refresh_views(base: Tensor) -> None:
    """Give every view of `base` the history that the base has by now."""
    alias = base.alias
    if alias is None:
        return
    if base.grad_node is not None:
        for view in alias.views_of(base):
            _refresh(view, base)
    elif getattr(alias, "outlived", False):
        for view in alias.views_of(base):
            if type(view) is Tensor and view.grad_fn is not None:
                _refresh(view, base)


def _refresh(view: Tensor, base: Tensor) -> None:
    if view_kind(view) is not None:
        view.__class__ = StaleView
    else:
        node = AsStridedBackward0(base.grad_node, Region(base.array, view.array))
        hand_over_retained(view, node)
        view.grad_node = node


def follow_base(base: Tensor) -> None:
    """Give the views of `base` what they have from it, now that it is another kind of leaf.

    A view without a history requires grad if its base does, and a gradient that arrives at it is
    lost; if there was a write since it was made, it is a part of the base as it is now.
    """
    alias = base.alias
    if alias is None:
        return
    if base.grad_node is None or base_of(base) is not None:
        alias.outlived = True
    written_over = getattr(alias, "written_over", 0)
    for position, view in enumerate(map(ref.__call__, alias.views)):
        if view is None or base_of(view) is not base:
            continue
        if type(view) is StaleView:
            if base.grad_node is None and not view.has_lost_history():
                view.recover()
        elif base.grad_node is None:
            if leads_nowhere(view.grad_node):
                view.grad_node = None
        elif view.grad_node is None:
            if position < written_over:
                _refresh(view, base)
            else:
                view.grad_node = nowhere(view)


def check_recordable(tensor: Tensor, name: str) -> None:
    """Raise RuntimeError if an in-place op on `tensor` must not be recorded.

    A leaf that requires grad would no longer be one; a view that was made under `no_grad`, or as
    one of several, has no history that could be rewritten.
    """
    base = base_of(tensor)
    if base is not None:
        _check_view(tensor)
        if base.is_leaf and not (base.grad_node is None and tensor.grad_node is None):
            raise RuntimeError(
                "a view of a leaf Variable that requires grad is being used in an in-place "
                f"operation. Call {name}() under no_grad(), or on a clone()."
            )
    if tensor.grad_node is not None and tensor.is_leaf:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation. "
            f"Call {name}() under no_grad(), or on a clone()."
        )


def _check_view(view: Tensor) -> None:
    kind = view_kind(view)
    if kind is not None:
        node = None if view.is_leaf else view.grad_node
        raise view_refusal(kind, node, MODIFIED)

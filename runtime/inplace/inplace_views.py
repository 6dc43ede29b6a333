"""In-place ops that change the shape of a tensor and not its elements: `t_`, `unsqueeze_`, ...

The tensor becomes a view of what it was: it keeps its memory and its place among the views of its
base, and its history continues with the node of the view. As for any write, who saved it can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import ExitStack
from functools import cache
from typing import Any

from ..batching.batched import Batched
from ..core.accumulate_grad import AccumulateGrad
from ..core.modes import enable_grad, inference_mode
from ..core.node import Node
from ..core.storage import base_of
from ..core.tensor import Tensor
from ..core.torch_function import handle_torch_function, has_torch_function_unary
from ..forward_ad.dual import Dual
from .in_transforms import refuse_captured
from .ops import is_recorded, mark_written, refuse_inference_write
from .rebase_history import check_recordable


def in_place_view(op: str, views: int) -> Callable[..., Tensor]:
    """The in-place variant of a method that takes a view, of which there are `views` overloads.

    The nodes of the variants are numbered after those of the overloads, as in PyTorch. Raises
    RuntimeError as other in-place ops do, and NotImplementedError for a dual tensor.
    """
    name = f"{op}_"

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if type(self) is not Tensor and has_torch_function_unary(self):
            return handle_torch_function(method, (self,), self, *args, **kwargs)
        refuse_captured(self, name)
        if isinstance(self, Batched):
            self._physical = getattr(Tensor, op)(self, *args, **kwargs).physical
            return self
        if type(self) is Dual:
            raise NotImplementedError(f"{name}() of a dual tensor is not supported: use {op}()")
        recording = is_recorded(self)
        if recording:
            check_recordable(self, name)
        refuse_inference_write(self)
        is_view = base_of(self) is not None
        # The gradient of a result has to find back to its former shape, also under `no_grad`.
        is_result = not (is_view or self.is_leaf)
        with ExitStack() as stack:
            if is_result:
                stack.enter_context(inference_mode(False))
                stack.enter_context(enable_grad())
            view = getattr(Tensor, op)(self, *args, **kwargs)
        array, node = view.array, view.grad_node
        del view  # before the tensor's views are told
        if type(self.grad_node) is AccumulateGrad:
            self.grad_node.array = array
        if is_view:  # it may lose its history, or become another part of its base
            self.array = array
            mark_written(self)
        else:  # its views are parts of what it was
            mark_written(self)
            self.array = array
        if node is not None and (recording or is_result):
            # A gradient that is retained stays that of the former shape, as in PyTorch.
            kind: Hashable = node.__class__  # mypy does not see that classes are
            node.__class__ = _renumbered(kind, views)
            self.grad_node = node
        return self

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"`{op}` of this tensor itself, which keeps its memory."
    return method


@cache
def _renumbered(kind: Any, views: int) -> type[Node]:
    """The class of a node under the name that it has after an in-place op."""
    stem, _, number = kind.__name__.partition("Backward")
    return type(f"{stem}Backward{int(number) + views}", (kind,), {"__slots__": ()})


class ViewInPlaceMethods:
    """Methods of `Tensor` that make it another view of its memory."""

    __slots__ = ()

    t_ = in_place_view("t", 1)
    transpose_ = in_place_view("transpose", 1)
    swapaxes_ = in_place_view("swapaxes", 1)
    swapdims_ = in_place_view("swapdims", 1)
    unsqueeze_ = in_place_view("unsqueeze", 1)
    squeeze_ = in_place_view("squeeze", 3)
    as_strided_ = in_place_view("as_strided", 1)

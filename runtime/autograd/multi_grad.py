"""Hooks on the gradients of several tensors together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal
from weakref import WeakKeyDictionary

from ..core.accumulate_grad import leads_nowhere
from ..core.hooks import RemovableHandle
from ..core.node import Node, place_of
from ..core.tensor import Tensor
from ..graph.graph_task import current_task
from .edges import TensorOrEdge, grad_node_of


class MultiHandle:
    """Handle that removes the hook from all tensors."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Remove the hook; a second time does nothing."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> MultiHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[TensorOrEdge], fn: Callable[..., None], *, mode: Literal["all", "any"] = "all"
) -> MultiHandle:
    """Call `fn` once in every backward pass that computes gradients of `tensors`.

    With mode `all` it is `fn(grads)`, after the last of those that the pass computes, with None
    for the others; with mode `any` it is `fn(grad)`, with the first. ValueError for another mode.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        tensors = [t for t in tensors if not isinstance(t, Tensor) or t.requires_grad]
        tensors = [t for t in tensors if not _is_view_to_nowhere(t)]
    nodes = [_node(tensor) for tensor in tensors]
    collector = _Collector(nodes, fn, mode)
    handles = []
    for position, grad_node in enumerate(nodes):
        hooks = grad_node._own_hooks()
        handles.append(hooks.add(hooks.on_grad, collector.hook(position)))
    return MultiHandle(handles)


def _is_view_to_nowhere(end: TensorOrEdge) -> bool:
    """Return whether this is a view of a leaf that was taken under `no_grad`."""
    grad_node = grad_node_of(end)
    return grad_node is not None and leads_nowhere(grad_node)


def _node(end: TensorOrEdge) -> Node:
    grad_node = grad_node_of(end)
    if grad_node is None or leads_nowhere(grad_node):
        # PyTorch's type, too: there it is an `assert`.
        raise AssertionError("cannot register a hook on a tensor that doesn't require gradient")
    return grad_node


class _Collector:
    """Gradients that have arrived so far, for each running pass."""

    def __init__(self, nodes: list[Node], fn: Callable[..., None], mode: str) -> None:
        self._nodes = [id(place_of(grad_node)[0]) for grad_node in nodes]
        self._fn = fn
        self._waits_for_all = mode == "all"
        self._arrived: WeakKeyDictionary[Any, dict[int, Tensor]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def hook(self, position: int) -> Callable[[Tensor], None]:
        """Make the tensor hook of one of the tensors."""

        def arrive(grad: Tensor) -> None:
            running = current_task()
            if running is None:
                return
            with self._lock:
                arrived = self._arrived.setdefault(running, {})
                arrived[position] = grad
                complete = len(arrived) == self._expected(running)
            if self._waits_for_all and complete:
                self._fn([arrived.get(nr) for nr in range(len(self._nodes))])
            elif not self._waits_for_all and len(arrived) == 1:
                self._fn(grad)

        return arrive

    def _expected(self, running: Any) -> int:
        """Count the tensors of which the pass computes a gradient.

        RuntimeError for a leaf whose gradient is captured: its node does not run, as in PyTorch.
        """
        if self._waits_for_all and any(
            node.is_leaf and id(node) in self._nodes and node in running.dependencies
            for node in running.captures
        ):
            raise RuntimeError(
                "a hook on the gradients of several tensors does not run in autograd.grad() by a "
                'leaf among them: use mode="any", or backward(inputs=...)'
            )
        visited = {id(grad_node) for grad_node in running.visited()}
        return sum(node in visited for node in self._nodes)

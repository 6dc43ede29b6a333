"""Questions of frameworks to the engine while a pass runs, under PyTorch's private names.

PyTorch documents none of these names, but programs that build on its autograd use them: which node
runs, in which pass, which nodes will run, and nodes that fail or pass nothing on, for tests.
Functions of the parts that PyTorch compiles and that are not about autograd are not here.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from types import SimpleNamespace
from typing import Any, Final
from weakref import ref

from .autograd.function import Function
from .core.accumulate_grad import AccumulateGrad
from .core.missing import explaining as _explaining
from .core.modes import is_grad_enabled as is_grad_enabled
from .core.node import GraphRoot, Node
from .core.storage import own_alias
from .core.tensor import Tensor
from .graph.graph_task import GraphTask, current_task, current_task_number
from .graph.raw_saved import SavedTensor
from .graph.saved_tensor_hooks import are_saved_tensors_hooks_enabled

_current_graph_task_id = current_task_number


def _current_autograd_node() -> Node | None:
    """Return the node whose gradient is being computed; None outside of a pass."""
    task = current_task()
    return None if task is None else task.node


def _will_engine_execute_node(node: Node) -> bool:
    """Return whether the current pass runs `node`, or has run it.

    RuntimeError for what is no node, outside of a pass, and for a leaf of which `autograd.grad`
    returns the gradient: nothing is accumulated there.
    """
    if not isinstance(node, Node):
        raise RuntimeError(
            f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}"
        )
    task = current_task()
    if task is None:
        raise RuntimeError(
            "_will_engine_execute_node should only be called during the backward pass, from a hook"
        )
    if node.is_leaf and node in task.captures:
        raise RuntimeError(
            "_will_engine_execute_node cannot tell about a leaf that is an input while you "
            "are currently running autograd.grad(): use backward(inputs=...)"
        )
    return node in _nodes_of(task)


def _current_graph_task_execution_order() -> list[Node]:
    """Return the nodes of the current pass in the order in which the engine visits them.

    RuntimeError outside of a pass.
    """
    task = current_task()
    if task is None:
        raise RuntimeError(
            "_current_graph_task_execution_order should only be called during the backward pass, "
            "from a hook"
        )
    waiting = _nodes_of(task)
    order: list[Node] = []
    ready: list[tuple[int, int, Node]] = [(-task.root.sequence_nr, 0, task.root)]
    numbers = count(1)  # of nodes with the same number, as leaves are, the first comes first
    while ready:
        node = heappop(ready)[2]
        if not isinstance(node, GraphRoot):
            order.append(node)
        for following, _ in node.next_functions:
            if following is not None and following in waiting:
                waiting[following] -= 1
                if not waiting[following]:
                    heappush(ready, (-following.sequence_nr, next(numbers), following))
    return order


def _nodes_of(task: GraphTask) -> dict[Node | None, int]:
    """Return the nodes that a pass visits, each with the number of edges that lead to it."""
    wanted = None if task.needs is None else task.needs.keys() | task.captures.keys()
    counts: dict[Node | None, int] = {task.root: 0}
    below = [task.root]
    for node in below:  # which grows meanwhile
        for following, _ in node.next_functions:
            if following is None or not (wanted is None or following in wanted):
                continue
            if following not in counts:
                counts[following] = 0
                below.append(following)
            counts[following] += 1
    return counts


class _WeakTensorRef:
    """A weak reference to a tensor."""

    def __init__(self, tensor: Tensor) -> None:
        self._ref = ref(tensor)

    def expired(self) -> bool:
        """Return whether the tensor is gone."""
        return self._ref() is None


class DelayedError:
    """A function that passes tensors through, and whose gradient raises RuntimeError(`message`)."""

    def __init__(self, message: str, num_inputs: int) -> None:
        self._message = message
        self._count = num_inputs

    def __call__(self, *tensors: Tensor) -> Any:
        """Return views of the `num_inputs` tensors, several of them as a tuple."""
        if len(tensors) != self._count:
            raise RuntimeError(f"DelayedError expects {self._count} tensors, got {len(tensors)}")
        return _Failing.apply(self._message, *tensors)


class _Failing(Function):
    @staticmethod
    def forward(ctx: Any, message: str, *tensors: Tensor) -> Any:
        ctx.message = message
        views = tuple(tensor.view_as(tensor) for tensor in tensors)
        return views[0] if len(views) == 1 else views

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        raise RuntimeError(ctx.message)


class UndefinedGrad:
    """A function that passes a tensor through, and no gradient back: None, which is no zero."""

    def __call__(self, tensor: Tensor) -> Tensor:
        """Return a view of the tensor."""
        view: Tensor = _Ending.apply(tensor)
        return view


class _Ending(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Tensor) -> Tensor:
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> None:
        return None


def _unsafe_set_version_counter(tensor: Tensor, version: int) -> None:
    """Set the number of writes that saved values are checked by; RuntimeError if it is negative."""
    if version < 0:
        raise RuntimeError(f"Cannot set a version counter to a negative number: {version}")
    own_alias(tensor).version = version


_functions: Final = SimpleNamespace(
    AccumulateGrad=AccumulateGrad, DelayedError=DelayedError, UndefinedGrad=UndefinedGrad
)
_autograd: Final = SimpleNamespace(
    SavedTensor=SavedTensor,
    _saved_tensors_hooks_is_enabled=are_saved_tensors_hooks_enabled,
    _unsafe_set_version_counter=_unsafe_set_version_counter,
)

__getattr__ = _explaining(__name__)

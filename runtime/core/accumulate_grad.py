"""The node of a leaf: where gradients are accumulated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final
from weakref import ref

from .node import Node
from .ownership import is_unshared
from .tensor import Tensor, wrap

LEAF_SEQUENCE_NR: Final = 2**64 - 1
"""PyTorch's number for `AccumulateGrad`: a leaf runs as soon as its gradient is complete."""


class AccumulateGrad(Node):
    """The node of a leaf: adds what arrives to the leaf's `grad`.

    It holds the leaf's array but only a weak reference to the tensor, because the tensor holds
    it: a leaf that is not used any more is freed at once, without the garbage collector.
    """

    is_leaf = True
    is_ordinary = False
    bypasses_queue = True
    runs_without_grad = True

    __slots__ = ("_variable", "array")

    def __init__(self, variable: Tensor) -> None:
        self._variable: Callable[[], Tensor | None] = ref(variable)
        self.array = variable.array
        self.next_nodes = ()
        self.hooks = None
        self.sequence_nr = LEAF_SEQUENCE_NR

    def name(self) -> str:
        """The name of the node, as PyTorch has it, with its namespace."""
        return "torch::autograd::AccumulateGrad"

    @property
    def variable(self) -> Tensor:
        """The leaf; made anew if only the graph still knows it."""
        variable = self._variable()
        if variable is None:
            variable = wrap(self.array)
            variable.grad_node = self
            self._variable = ref(variable)
        return variable

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[()]:
        """Add an array, if there is one, to the leaf's gradient, in place if it has one."""
        variable = self._variable()
        if variable is not None and (grad is None or self._accepts(variable)):
            if grad is not None:
                variable.add_to_grad(grad)
            self._call_accumulate_hooks(variable)
        return ()

    def take_from(self, buffers: dict[Node, Any]) -> None:
        """Accumulate what `buffers` hold for this node; an array that is not shared is kept."""
        grad = buffers.pop(self)
        variable = self._variable()
        if grad is None or variable is None:
            return
        if self._accepts(variable):
            keep = is_unshared(grad) and grad.strides == self.array.strides  # it is counted first
            variable.add_to_grad(grad, keep)

    def apply_differentiable(self, grad: Any, needs: Sequence[object]) -> tuple[()]:
        """Add a tensor, if there is one, to the leaf's gradient; the sum is recorded."""
        variable = self._variable()
        if variable is not None and (grad is None or self._accepts(variable)):
            if grad is not None:
                variable.add_recorded_grad(grad)
            self._call_accumulate_hooks(variable)
        return ()

    def _accepts(self, variable: Tensor) -> bool:
        """Return whether the tensor still requires grad; RuntimeError if it is no leaf any more."""
        if variable.grad_node is not self and not variable.is_leaf:
            raise RuntimeError(
                "leaf variable has been moved into the graph interior: it was detached and then "
                "modified in place after it had been used"
            )
        return variable.requires_grad

    def _call_accumulate_hooks(self, variable: Tensor) -> None:
        if self.hooks is not None:
            for hook in list(self.hooks.after_accumulate.values()):
                if hook(variable) is not None:
                    raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def nowhere(view: Tensor) -> AccumulateGrad:
    """The node of a view that requires grad and is not recorded: nothing is accumulated."""
    node = AccumulateGrad(view)
    node._variable = _no_tensor
    return node


def leads_nowhere(node: Node | None) -> bool:
    """Return whether this is the node of a view that was made without gradients."""
    return isinstance(node, AccumulateGrad) and node._variable is _no_tensor


def _no_tensor() -> None:
    """Answer as a weak reference does whose tensor is gone."""

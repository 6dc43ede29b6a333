"""Views that outlived a write which their history cannot follow."""

from __future__ import annotations

from .accumulate_grad import AccumulateGrad
from .modes import is_grad_enabled
from .node import Node
from .tensor import Tensor, wrap
from .view_errors import BASE_MODIFIED, view_refusal


class StaleView(Tensor):
    """A view whose base was modified in a way that its history cannot follow.

    It still shows the values; ops, which ask for a `Tensor` exactly, send it to the slow path,
    where it is refused.
    """

    __slots__ = ()
    _is_internal = True  # no class of a user's that could override ops

    @property
    def grad_node(self) -> Node | None:
        """Raise RuntimeError: it is unknown where a gradient would go."""
        raise self.refusal()

    @grad_node.setter
    def grad_node(self, node: Node | None) -> None:
        raise self.refusal()

    @property
    def requires_grad(self) -> bool:
        """A gradient was asked for, though it cannot be had."""
        return True

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @property
    def retains_grad(self) -> bool:
        """The gradient is not kept: it cannot be had."""
        return False

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Do nothing, or raise RuntimeError."""
        if not requires_grad and self.has_lost_history():
            raise self.refusal()
        return self

    def retain_grad(self) -> None:
        """Do nothing for a view that was made without gradients; RuntimeError for others."""
        if self.has_lost_history():
            raise self.refusal()

    def has_lost_history(self) -> bool:
        """Return whether a recorded op or function made this view."""
        node = super().grad_node
        return node is not None and type(node) is not AccumulateGrad

    def recover(self) -> None:
        """Be an ordinary view without a history: the base has none any more."""
        plain: Tensor = self
        plain.__class__ = Tensor
        plain.grad_node = None

    def _as_operand(self) -> Tensor:
        """Return the same view without a history; RuntimeError where the op is recorded."""
        if is_grad_enabled():
            raise self.refusal()
        plain = wrap(self.array)
        plain.alias = self.alias
        plain._view_base = self._view_base
        plain._view_kind = self._view_kind
        return plain

    def refusal(self) -> RuntimeError:
        """The error of any op on this tensor."""
        node = super().grad_node if self.has_lost_history() else None
        return view_refusal(self._view_kind, node, BASE_MODIFIED)

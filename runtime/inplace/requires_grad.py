"""Leaves that start or stop to require grad, with the views that follow them."""

from __future__ import annotations

from ..batching.batched import Batched
from ..core.accumulate_grad import AccumulateGrad, leads_nowhere, nowhere
from ..core.apply_modes import refuse_inference
from ..core.hooks import rest_hooks, wake_hooks
from ..core.storage import base_of, own_alias
from ..core.tensor import Tensor
from .in_transforms import note_leaf, refuse_captured, refuse_transformed
from .rebase_history import follow_base


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Start or stop asking for the gradient of a leaf, in place.

    Raises RuntimeError for a result of an op, for a dtype that has no derivative, and inside of
    transforms, where the attribute can be set.
    """
    if not isinstance(requires_grad, bool):
        raise TypeError(f"requires_grad_() takes a bool, not {type(requires_grad).__name__}")
    refuse_transformed("Tensor.requires_grad_()")
    return set_requires_grad(self, requires_grad)


def set_requires_grad(self: Tensor, requires_grad: bool) -> Tensor:
    """Do what `requires_grad_` does, inside of transforms, too."""
    if type(self) is Batched:
        set_requires_grad(self.physical, requires_grad)
        return self
    if not self.is_leaf:
        if requires_grad:
            return self
        raise RuntimeError(
            "you can only change requires_grad flags of leaf variables. To use a computed "
            "value where no gradient should flow, use detach()."
        )
    if not requires_grad:
        rest_hooks(self)
        base = base_of(self)
        self.grad_node = None if base is None or base.grad_node is None else nowhere(self)
        follow_base(self)
    elif self.grad_node is None or leads_nowhere(self.grad_node):
        if self.array.dtype.kind not in "fcO":  # O: the symbols of a proof
            raise RuntimeError(
                "only Tensors of floating point and complex dtype can require gradients, "
                f"not {self.array.dtype}"
            )
        refuse_inference(self, "Setting requires_grad=True")
        self.grad_node = AccumulateGrad(self)
        note_leaf(self.grad_node)
        wake_hooks(self)
        follow_base(self)
    return self


def detach_(self: Tensor) -> Tensor:
    """Cut this tensor off from the graph that made it; RuntimeError for a view."""
    refuse_captured(self, "detach_")
    if self._is_view():
        raise RuntimeError("Can't detach views in-place. Use detach() instead.")
    alias = own_alias(self)  # by which the node that made the values learns of later writes
    if not self.is_leaf:
        alias.version += 1
        alias.detached = getattr(alias, "detached", 0) + 1
    self.grad_node = None
    follow_base(self)
    return self


class RequiresGradMethods:
    """Methods of `Tensor` that change whether it requires grad."""

    __slots__ = ()

    requires_grad_ = requires_grad_
    detach_ = detach_

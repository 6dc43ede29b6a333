"""Methods of `Node` that take the rest of the graph: calling it, reading what it saved."""

from __future__ import annotations

from typing import Any

from ..core.node import Node
from .run_hooks import call_node_hooks
from .saved_attributes import saved_value


class SavedValue:
    """Descriptor that answers a slot in which a node keeps tensors for its gradient, for users.

    A tensor (for a list of them a tuple), also where the node itself keeps an array only; None if
    no gradient that was asked for reads it. RuntimeError after the graph has been freed, and if
    the tensor was modified in place since.
    """

    __slots__ = ("slot",)

    def __init__(self, slot: str) -> None:
        self.slot = slot

    def __get__(self, node: Node | None, _: type[Node]) -> Any:
        if node is None:
            return self
        return saved_value(node, self.slot)


class RawSaved:
    """Descriptor that answers a saved value as an object to which hooks can be given."""

    __slots__ = ("slot",)

    def __init__(self, slot: str) -> None:
        self.slot = slot

    def __get__(self, node: Node | None, owner: type) -> Any:
        if node is None:
            return self
        from .raw_saved import raw_saved  # few programs ask for it

        return raw_saved(node, self.slot)


class NodeMethods:
    """Methods that the package installs on `Node`."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Let what a slot `saved_<name>` holds be read as `_saved_<name>`, as in PyTorch."""
        for slot in cls.__dict__.get("__slots__", ()):
            if slot.startswith("saved_"):
                setattr(cls, slot.replace("saved_", "_saved_", 1), SavedValue(slot))
                setattr(cls, slot.replace("saved_", "_raw_saved_", 1), RawSaved(slot))

    def __call__(self: Any, *grads: Any) -> Any:
        """Run this one link: the gradients of its inputs, given those of its outputs.

        A node of one input answers its gradient, others a tuple. TypeError for the wrong number of
        gradients. What happens is recorded, as for any op.
        """
        expected = self.output_count if self.has_several_outputs else 1
        if len(grads) != expected:
            raise TypeError(f"expected {expected} arguments, got {len(grads)} instead")
        given = list(grads) if self.has_several_outputs else grads[0]
        answers = tuple(call_node_hooks(self, self._own_hooks(), given, self.next_nodes, True))
        return answers[0] if len(answers) == 1 else answers

    backward = __call__

"""Methods of `Node` that take the rest of the graph: calling it, reading what it saved."""

from __future__ import annotations

from typing import Any

from ..core.node import Node
from ..dispatch.registry import BY_NAME
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


class SavedOption:
    """Descriptor that answers an item of the tuple in which a node keeps what is no tensor.

    An integer that stands for a list is answered as one, `(0,)`: PyTorch's nodes keep lists. None
    if no gradient that is asked for reads it, so that it was not kept.
    """

    __slots__ = ("name", "position")

    def __init__(self, name: str, position: int) -> None:
        self.name = name
        self.position = position

    def __get__(self, node: Node | None, _: type[Node]) -> Any:
        if node is None:
            return self
        options = getattr(node, "options", None)
        if options is None:
            return None
        value = options[self.position]
        op = BY_NAME.get(getattr(node, "op", ""))
        if type(value) is int and op is not None:
            is_list = any(p.name == self.name and "[" in p.type for p in op.params)
            return (value,) if is_list else value
        return value


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
        """Let what is saved as `name` be read as `_saved_<name>`, as in PyTorch."""
        fields = cls.__dict__.get("saved_fields")
        if fields is None:
            return
        kind: Any = cls
        kind.saved_slots = tuple(s for s, what in fields.items() if what in ("tensor", "result"))
        computed = (slot for slot, what in fields.items() if what == "computed")
        kind.held_slots = (*kind.saved_slots, *computed)
        kind.has_several_outputs = "output_count" in fields
        for slot in kind.saved_slots:
            setattr(cls, f"_{slot}", SavedValue(slot))
            setattr(cls, f"_raw_{slot}", RawSaved(slot))
        for position, name in enumerate(fields.get("options", "").split()):
            setattr(cls, f"_saved_{name}", SavedOption(name, position))
            if name.endswith("_shape"):  # PyTorch's name of the same
                sizes = f"_saved_{name.removesuffix('shape')}sym_sizes"
                setattr(cls, sizes, SavedOption(name, position))

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

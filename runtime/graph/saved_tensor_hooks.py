"""Saved-tensor hooks: what a node keeps is packed in the forward and unpacked for its gradient.

A thread that uses them watches the ops as they finish; the node of each gets a `Packed` among its
hooks. Nothing of it is seen by other nodes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, TypeAlias
from weakref import ref

import numpy as np

from ..core.accumulate_grad import AccumulateGrad
from ..core.modes import no_grad, start_observing, stop_observing
from ..core.node import FREED, Freed, Node, OutputNode, WeakNode
from ..core.storage import changes_of
from ..core.tensor import Tensor, wrap
from ..dispatch.dispatch import is_number
from ..forward_ad.dual import Level, tangents_of, with_tangents, without_tangents
from .saved_attributes import edge_of_output
from .saved_values import type_and_shape

Pack: TypeAlias = Callable[[Tensor], Any]
Unpack: TypeAlias = Callable[[Any], Tensor]


class PackedValue(NamedTuple):
    """One packed tensor, the hook that unpacks it, and its place in the graph."""

    value: Any
    unpack: Unpack
    grad_node: Node | None
    is_array: bool
    """True if it is the output of its own node, which keeps the array only."""
    origin: int
    """The id of what was packed, which says something while the op runs."""
    tangents: tuple[tuple[Tensor, Level], ...] = ()
    """The tangents, which no hook sees, and which are kept beside the packed value."""

    def answer(self) -> Tensor:
        """Ask the hook for the tensor; TypeError if it answers none."""
        before = _thread.stack
        try:
            tensor = self.unpack(self.value)
        finally:
            _set_stack(before)  # hooks that the hook has set or removed were its own
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                f"type {type(tensor).__name__}"
            )
        return tensor

    def restore(self) -> Any:
        """Return the saved value as the node keeps it."""
        tensor = self.answer()
        if self.is_array:
            return tensor.array
        return self._with_history(tensor)

    def restore_itself(self) -> Tensor:
        """Return the tensor that the hook answers, itself if it has no history and had none."""
        tensor = self.answer()
        has_history = self.grad_node is not None or tensor.requires_grad or self.tangents
        return self._with_history(tensor) if has_history else tensor

    def _with_history(self, tensor: Tensor) -> Tensor:
        restored = wrap(tensor.array)
        restored.grad_node = self.grad_node
        return with_tangents(restored, self.tangents)

    def with_dual(self, dual: Tensor) -> PackedValue:
        """Return the same for a dual of what was packed."""
        return self._replace(origin=id(dual), tangents=tangents_of(dual))


def pack_tensor(tensor: Tensor, pack: Pack, unpack: Unpack, is_output: bool = False) -> PackedValue:
    """Hand one saved tensor to the hook, without recording what the hook does.

    What is kept of the node's own output has no history, in which it would hold that node.
    """
    plain = without_tangents(tensor)
    grad_node = None if is_output else tensor.grad_node
    shown = plain if plain.is_leaf and not is_output else _shown(plain, grad_node)
    packed = _call_pack(pack, shown)
    return PackedValue(packed, unpack, grad_node, False, id(tensor), tangents_of(tensor))


def _call_pack(pack: Pack, shown: Tensor) -> Any:
    before = changes_of(shown)
    with no_grad():
        packed = pack(shown)
    if changes_of(shown) != before:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place, which is not allowed: "
            f"{type_and_shape(shown.array)} may be in use elsewhere. clone() it first."
        )
    return packed


def _shown(tensor: Tensor, grad_node: Node | None) -> Tensor:
    shown = wrap(tensor.array)
    shown.grad_node = grad_node
    return shown


class PackedSlot(Freed):
    """Placeholder in the slot of a node that holds a packed value.

    So nothing is kept of what the node has let go of.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Packed:
    """The packed values of one node, by slot."""

    __slots__ = ("_node",)

    def __init__(self, values: dict[str, Any], node: Any) -> None:
        self._node = ref(node)  # which holds this
        for slot, value in values.items():
            setattr(node, slot, PackedSlot(value))
        for slot, kind in node.saved_fields.items():
            if kind == "computed":  # from what the hooks may replace
                setattr(node, slot, None)

    @property
    def values(self) -> dict[str, Any]:
        """Packed values; none of a node that is freed, or computes its gradient."""
        node = self._node()
        held = {slot: getattr(node, slot, None) for slot in node.saved_slots} if node else {}
        return {slot: each.value for slot, each in held.items() if isinstance(each, PackedSlot)}

    def replace(self, slot: str, value: Any) -> None:
        """Put another packed value into a slot."""
        setattr(self._node(), slot, PackedSlot(value))

    def restore(self, slot: str) -> Any:
        """Unpack what the node kept in `slot`."""
        return _restored(self.values[slot])

    @contextmanager
    def unpacked(self, node: Node) -> Iterator[None]:
        """The node with its values in place, as its `apply` needs it."""
        packed = self.values
        for slot, value in packed.items():
            setattr(node, slot, _restored(value))
        try:
            yield
        finally:
            for slot, value in packed.items():
                if getattr(node, slot) is not FREED:
                    setattr(node, slot, PackedSlot(value))


def _restored(value: Any) -> Any:
    if isinstance(value, list):
        return [item.restore() if isinstance(item, PackedValue) else item for item in value]
    return value.restore()


class _SavedHooks(threading.local):
    """The hooks of one thread, innermost last, and why new ones are refused."""

    def __init__(self) -> None:
        self.stack: tuple[tuple[Pack, Unpack], ...] = ()
        self.refusal: str | None = None


_thread: Final = _SavedHooks()


def current_hooks() -> tuple[Pack, Unpack] | None:
    """The innermost hooks of this thread."""
    return _thread.stack[-1] if _thread.stack else None


class saved_tensors_hooks:
    """Inside the block, what nodes save goes through `pack_hook`, and through `unpack_hook` when
    the gradient is computed. RuntimeError where `disable_saved_tensors_hooks` forbids it, TypeError
    for what is no function.
    """

    def __init__(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if _thread.refusal is not None:
            raise RuntimeError(_thread.refusal)
        for role, hook in (("pack", self.pack_hook), ("unpack", self.unpack_hook)):
            if not callable(hook):
                raise TypeError(f"the {role} hook must be callable, not {type(hook).__name__}")
        _set_stack((*_thread.stack, (self.pack_hook, self.unpack_hook)))

    def __exit__(self, *_: object) -> None:
        if not _thread.stack:
            raise RuntimeError("saved_tensors_hooks: no hooks are set that could be left")
        _set_stack(_thread.stack[:-1])


def _set_stack(stack: tuple[tuple[Pack, Unpack], ...]) -> None:
    """Make these the hooks of this thread; ops are observed while there are any."""
    if stack and not _thread.stack:
        start_observing(_pack_results)
    elif _thread.stack and not stack:
        stop_observing(_pack_results)
    _thread.stack = stack


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Inside the block `saved_tensors_hooks` raises RuntimeError with this message."""
    before = _thread.refusal
    if _thread.stack:
        raise RuntimeError(error_message)
    _thread.refusal = error_message
    try:
        yield
    finally:
        _thread.refusal = before


def are_saved_tensors_hooks_enabled() -> bool:
    """Return whether `saved_tensors_hooks` may be used in this thread."""
    return _thread.refusal is None


def _pack_results(results: tuple[Tensor, ...]) -> None:
    """Pack what the node of these results saved."""
    grad_node = next((tensor.grad_node for tensor in results if tensor.grad_node is not None), None)
    hooks = current_hooks()
    if grad_node is None or hooks is None or isinstance(grad_node, AccumulateGrad):
        return
    node = grad_node.node if isinstance(grad_node, OutputNode) else grad_node
    own = node._own_hooks()
    if own.packed is not None:
        return
    values: dict[str, Any] = {}
    for slot in node.saved_slots:
        packed = pack_slot(slot, getattr(node, slot, None), node, *hooks)
        if packed is not None:
            values[slot] = packed
    own.packed = Packed(values, node) if values else None


def pack_slot(slot: str, value: Any, node: Node, pack: Pack, unpack: Unpack) -> Any:
    """A packed slot; None if it holds no tensors."""
    if isinstance(value, np.ndarray):
        grad_node = edge_of_output(node, slot)
        # The hook may keep what it is shown: then the node would hold itself.
        shown = _shown(wrap(value), None if grad_node is None else WeakNode(grad_node))
        return PackedValue(_call_pack(pack, shown), unpack, None, True, id(value))
    if isinstance(value, Tensor):
        return None if is_number(value) else pack_tensor(value, pack, unpack)
    if isinstance(value, list | tuple) and any(isinstance(item, Tensor) for item in value):
        return [None if item is None else pack_tensor(item, pack, unpack) for item in value]
    return None

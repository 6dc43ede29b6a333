"""One saved value of a node as an object: `node._raw_saved_self`, for hooks on it alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np

from ..core.node import FREED, Node
from ..core.tensor import wrap
from .saved_attributes import saved_value
from .saved_tensor_hooks import Pack, Packed, PackedValue, Unpack, pack_slot, pack_tensor


class SavedTensor:
    """One value that a node keeps for its gradient."""

    __slots__ = ("_look", "_register")

    def __init__(
        self,
        register: Callable[[Pack, Unpack], None] | None = None,
        look: Callable[[], Any] = lambda: None,
    ) -> None:
        if register is None:
            raise RuntimeError(
                "Trying to create a SavedTensor object from Python is forbidden: nodes have them, "
                "as node._raw_saved_self"
            )
        self._register = register
        self._look = look

    @property
    def data(self) -> Any:
        """Return what the node holds: the tensor, its output's values, or what a hook made."""
        held = self._look()
        if held is FREED:
            raise after_freed()
        if isinstance(held, PackedValue):
            return held.value
        return wrap(held) if isinstance(held, np.ndarray) else held

    @property
    def unpack_hook(self) -> Unpack | None:
        """The hook that the value goes through; None if it is not packed."""
        held = self._look()
        return held.unpack if isinstance(held, PackedValue) else None

    def register_hooks(self, pack_hook: Pack, unpack_hook: Unpack | None = None) -> None:
        """Replace the value by what `pack_hook` makes of it; `unpack_hook` is asked for it later.

        TypeError for what cannot be called. RuntimeError where nothing was saved or hooks have
        packed it already, after the graph has been freed, and if the hook modifies the tensor.
        """
        for hook in (pack_hook, unpack_hook):
            if not callable(hook):
                name = type(hook).__name__
                raise TypeError(
                    "register_hooks(): incompatible function arguments: both hooks must be "
                    f"callable, not {name}"
                )
        self._register(pack_hook, cast(Unpack, unpack_hook))


def raw_saved(node: Node, slot: str) -> Any:
    """The object for a slot, or a tuple of them for a list of tensors."""
    value: Any = _packed(node).get(slot) or getattr(node, slot, None)
    if type(value) in (list, tuple):
        return tuple(
            SavedTensor(partial(_register, node, slot, index), partial(_held, node, slot, index))
            for index in range(len(value))
        )
    return SavedTensor(partial(_register, node, slot, None), partial(_held, node, slot, None))


def _held(node: Node, slot: str, index: int | None) -> Any:
    value: Any = _packed(node).get(slot, getattr(node, slot, None))
    return value if index is None or value is FREED else value[index]


def _packed(node: Node) -> dict[str, Any]:
    """Return what hooks have packed already, by slot."""
    packed = None if node.hooks is None else node.hooks.packed
    return {} if packed is None else packed.values


def _register(node: Node, slot: str, index: int | None, pack: Pack, unpack: Unpack) -> None:
    value: Any = getattr(node, slot, None)
    if value is FREED:
        raise after_freed()
    known = _packed(node)
    value = known.get(slot, value)
    one = value if index is None else value[index]
    if isinstance(one, PackedValue):
        raise hooks_are_set()
    if one is None:
        raise nothing_saved()
    saved_value(node, slot)  # which raises if it was modified since
    pack = without_history(pack)
    if index is None:
        packed = pack_slot(slot, value, node, pack, unpack)
        if packed is None:  # a number, which no hook sees
            raise nothing_saved()
    else:
        packed = [*value[:index], pack_tensor(one, pack, unpack), *value[index + 1 :]]
    node._own_hooks().packed = Packed(known | {slot: packed}, node)


def without_history(pack: Pack) -> Pack:
    """The hook, which sees no more of a tensor than its values, as in PyTorch."""
    return lambda tensor: pack(tensor.detach())


def after_freed() -> RuntimeError:
    """Make the error of hooks for a value that is gone."""
    return RuntimeError(
        "Calling register_hooks on a saved tensor after it has been freed. Pass retain_graph=True "
        "to the pass before, or register the hooks before it."
    )


def hooks_are_set() -> RuntimeError:
    """Make the error of a second pair of hooks."""
    return RuntimeError(
        "Calling register_hooks on a saved tensor whose hooks have already been set is not "
        "allowed: there is one pair of hooks for each."
    )


def nothing_saved() -> RuntimeError:
    """Make the error of hooks for a value that no gradient needs."""
    return RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")

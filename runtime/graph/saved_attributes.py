"""Saved values as users read them: `node._saved_self`, `node._saved_result`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.node import FREED, Node, OutputNode, freed_graph
from ..core.tensor import Tensor, wrap
from ..dispatch.dispatch import is_number
from .saved_values import check_version, check_versions, output_of


def saved_value(node: Node, slot: str) -> Any:
    """The tensor (or tuple of tensors) in a slot of `node`; None if nothing was kept in it.

    RuntimeError after the graph has been freed, or if a tensor was modified in place since.
    """
    value = getattr(node, slot, None)
    if value is FREED:
        raise freed_graph()
    hooks = node.hooks
    if hooks is not None and hooks.packed is not None and slot in hooks.packed.values:
        value = hooks.packed.restore(slot)
    if isinstance(value, np.ndarray):
        if hooks is not None and hooks.guard is not None:
            hooks.guard(node)
        return output_of(edge_of_output(node, slot), value)
    name = slot.removeprefix("saved_")
    version = getattr(node, f"_version_{name}", None)
    if isinstance(value, Tensor):
        if is_number(value):
            value = wrap(value.array.copy())  # from now on this node's own
            setattr(node, slot, value)
        check_version(node, name, value, version)
    elif value is not None:
        check_versions(node, name, value, version or [])
        return tuple(value)
    return value


def edge_of_output(node: Node, slot: str) -> Node | None:
    """The node of the output that `node` keeps in a slot; None if it carries no gradient."""
    output_nr = dict(node.output_nrs).get(slot, 0)
    if output_nr is None:
        return None
    return OutputNode(node, output_nr) if node.has_several_outputs else node

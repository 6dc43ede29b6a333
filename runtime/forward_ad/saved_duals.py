"""Duals saved by nodes: forward over reverse.

An op on duals runs on their primals, so its node has kept those. A gradient that is computed while
the level is open shall have a tangent too, so the node gets the duals in their place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from weakref import ref

from ..core.accumulate_grad import AccumulateGrad
from ..core.node import Node, OutputNode

if TYPE_CHECKING:
    from ..core.tensor import Tensor


def keep_duals(result: Any, arguments: Iterable[tuple[Any, Any]]) -> None:
    """Tell the node that made `result` of the tangents.

    `arguments` are pairs of a dual, or a list of them, and what the op was called with instead.
    """
    results = list(result) if isinstance(result, list | tuple) else [result]
    grad_node = next((tensor.grad_node for tensor in results if tensor.grad_node is not None), None)
    if grad_node is None or isinstance(grad_node, AccumulateGrad):
        return
    node = grad_node.node if isinstance(grad_node, OutputNode) else grad_node
    duals: dict[int, Any] = {}
    for given, called_with in arguments:
        items = zip(given, called_with, strict=True) if _is_list(given) else [(given, called_with)]
        duals |= {id(primal): dual for dual, primal in items if hasattr(dual, "_dual_parts")}
    for slot in node.saved_slots:
        if hasattr(node, slot):
            packed = None if node.hooks is None else node.hooks.packed
            if packed is not None and slot in packed.values:
                value = packed.values[slot]
                packed.replace(slot, _keep_packed(node, slot, value, duals, results))
            else:
                _keep(node, slot, duals, results)


def _keep(node: Node, slot: str, duals: dict[int, Any], results: list[Tensor]) -> None:
    kept = getattr(node, slot)
    if _is_list(kept):
        setattr(node, slot, [duals.get(id(item), item) for item in kept])
    elif id(kept) in duals:
        setattr(node, slot, duals[id(kept)])
    else:
        _keep_tangent_of_output(node, slot, id(kept), results)


def _keep_packed(
    node: Node, slot: str, packed: Any, duals: dict[int, Any], results: list[Tensor]
) -> Any:
    """Add the tangents, which hooks have not seen, to what saved-tensor hooks have packed."""
    if isinstance(packed, list):
        return [p and _keep_packed(node, slot, p, duals, []) for p in packed]
    if packed.origin in duals:
        return packed.with_dual(duals[packed.origin])
    _keep_tangent_of_output(node, slot, packed.origin, results)
    return packed


def _keep_tangent_of_output(node: Node, slot: str, kept: int, results: list[Tensor]) -> None:
    for tensor in results:
        # Only the array, as the output itself holds the node.
        if id(tensor.array) == kept and hasattr(tensor, "_dual_parts"):
            parts = tensor._dual_parts
            node._own_hooks().tangents.append((slot, parts.tangent, parts.level))
            parts.level.keepers.append(ref(node))


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)

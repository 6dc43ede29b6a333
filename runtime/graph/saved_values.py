"""Saving values in generated nodes, and getting them back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, TypeAlias

import numpy as np

from ..core.accumulate_grad import AccumulateGrad
from ..core.node import FREED, Node, OutputNode, freed_graph, place_of
from ..core.storage import Alias, changes_of
from ..core.tensor import Tensor, wrap
from ..dtypes.promotion import type_name
from ..forward_ad.dual import with_tangent

ShapeDtype: TypeAlias = tuple[tuple[int, ...], np.dtype[Any]]
"""The shape and dtype that a gradient must come back in."""


def shape_dtype(tensor: Tensor | None) -> ShapeDtype | None:
    """Return the shape and dtype of the gradient of `tensor`."""
    return None if tensor is None else (tensor.array.shape, tensor.array.dtype)


def check_version(node: Node, name: str, saved: Tensor, version: int | None) -> None:
    """Raise RuntimeError if `saved` was modified in place since `node` kept it."""
    if saved.alias is None:
        return  # never written to, or unpacked by a hook: a new tensor, of no such history
    expected, found = version or 0, changes_of(saved)
    if found != expected and found - expected == getattr(saved.alias, "detached", 0):
        raise RuntimeError(
            f"Trying to use a saved tensor that has been detached in-place: {node.name()} saved "
            f"{type_and_shape(saved.array)} as '{name}', and does not know any more where it came "
            "from. Use detach(), or clone() it first."
        )
    check_writes(node, name, saved.array, saved.grad_node, found, expected)


def check_writes(
    node: Node, name: str, array: Any, grad_node: Node | None, found: int, expected: int
) -> None:
    """Raise RuntimeError if a value was written to since `node` saved it as `name`.

    `found` counts the writes to it and `expected` those before it was saved. Every kind of saved
    value is judged here: arguments, results, lists, and those of custom functions.
    """
    if found == expected:
        return
    origin = ""
    if grad_node is not None and type(grad_node) is not AccumulateGrad:
        maker, nr = place_of(grad_node)
        origin = f", which is output {nr} of {maker.name()},"
    raise RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: {type_and_shape(array)}{origin} is at version {found}; expected version "
        f"{expected} instead. Hint: {node.name()} saved it as '{name}'; use the out-of-place op or "
        "clone() first, or find the forward call with autograd.set_detect_anomaly(True)."
    )


def type_and_shape(array: Any) -> str:
    """Return how errors name a saved value, as in PyTorch: `[FloatTensor [2, 3]]`."""
    return f"[{type_name(array.dtype)}Tensor {list(array.shape)}]"


def saved_output_slot(node: Node, array: Any) -> str | None:
    """The slot in which `node` keeps `array`, an output of its op; None if it does not."""
    return next((s for s in node.saved_slots if getattr(node, s, None) is array), None)


def guard_saved_output(node: Node, slot: str, alias: Alias, expected: int) -> None:
    """Make `node` refuse to run: the output that it keeps is about to be overwritten."""
    node._own_hooks().guard = partial(_refuse, slot=slot, alias=alias, expected=expected)


def _refuse(node: Node, *, slot: str, alias: Alias, expected: int) -> None:
    array = getattr(node, slot)
    if array is FREED:
        raise freed_graph()
    name = slot.removeprefix("saved_")
    check_writes(node, name, array, node, alias.count_writes(), expected)


def versions(tensors: Sequence[Tensor | None]) -> list[int | None]:
    """The versions of a list of saved tensors."""
    return [None if t is None or t.alias is None else t.alias.version for t in tensors]


def check_versions(
    node: Node, name: str, saved: Sequence[Tensor | None], expected: Sequence[int | None]
) -> None:
    """`check_version` for a list of saved tensors, some of which may be absent."""
    if saved is FREED:
        raise freed_graph()
    for tensor, version in zip(saved, expected, strict=True):
        if tensor is not None:
            check_version(node, name, tensor, version)


def arrays_of(tensors: Sequence[Tensor | None]) -> list[Any]:
    """The arrays of a list of tensors, some of which may be absent."""
    return [None if t is None else t.array for t in tensors]


_NO_ELEMENTS = bytes(np.dtype(np.complex128).itemsize)


def meta_tensors(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Tensors of the same shapes and dtypes that keep no elements, for gradients of that form."""
    return [wrap(_meta_array(t.array.shape, t.array.dtype)) for t in tensors]


@lru_cache
def _meta_array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    if dtype.hasobject:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, _NO_ELEMENTS, strides=(0,) * len(shape))


def output_of(grad_node: Node | None, array: Any) -> Tensor:
    """A saved output as a tensor with the history of the op that made it.

    A node keeps the array of its output only: with the tensor itself there would be a cycle.
    """
    if array is FREED:
        raise freed_graph()
    out = wrap(array)
    out.grad_node = grad_node
    node = grad_node.node if isinstance(grad_node, OutputNode) else grad_node
    if node is not None and node.hooks is not None and node.hooks.tangents:
        slot = saved_output_slot(node, array)
        for saved_in, tangent, level in node.hooks.tangents:
            if saved_in == slot:
                out = with_tangent(out, tangent, level)
    return out


def attach_outputs(node: Any, outputs: Sequence[Tensor]) -> None:
    """Make `outputs` the differentiable outputs of a node that has several."""
    node.output_count = len(outputs)
    node.output_shapes = [shape_dtype(output) for output in outputs]
    for output_nr, output in enumerate(outputs):
        output.grad_node = OutputNode(node, output_nr)


def materialize(grads: Sequence[Any], outputs: Sequence[ShapeDtype]) -> list[Any]:
    """Return gradients of all outputs as arrays; zeros for an unused output."""
    return [
        np.zeros(*like) if grad is None else grad for grad, like in zip(grads, outputs, strict=True)
    ]


def materialize_tensors(
    grads: Sequence[Tensor | None], outputs: Sequence[ShapeDtype]
) -> list[Tensor]:
    """Return gradients of all outputs as tensors; zeros for an unused output."""
    return [
        wrap(np.zeros(*like)) if grad is None else grad
        for grad, like in zip(grads, outputs, strict=True)
    ]

"""Inputs that the `forward` of a custom function returns: as they are, or modified in place."""

from __future__ import annotations

from typing import Any

from ..aliasing import BY_FUNCTION, base_of, own_alias, share_memory
from ..inplace import mark_written
from ..tensor import Tensor, wrap
from .context import FunctionCtx


def check_dirty(ctx: FunctionCtx, args: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Raise RuntimeError if what was modified in place is no input, or is not returned."""
    if not ctx._dirty <= set(map(id, outputs)):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. "
            "The inputs that are modified inplace must all be outputs of the Function."
        )
    if not ctx._dirty <= set(map(id, args)):
        raise RuntimeError("mark_dirty is for tensors that are inputs of the Function.")


def check_dirty_view(output: Tensor, count: int) -> None:
    """Raise RuntimeError if a view was modified by a function of several outputs."""
    if count > 1 and base_of(output) is not None:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your "
            "Function cannot return more than one Tensor: clone() the view, or split the Function."
        )


def alias_of(tensor: Tensor, args: tuple[Any, ...]) -> Tensor:
    """Another tensor on the memory of an output; of an input, or a view of one, it is a view.

    In-place ops on it are refused: their gradient would go past the function's `backward`.
    """
    alias = wrap(tensor.array)
    share_memory(tensor, alias)
    base = base_of(tensor)
    if base is not None or any(tensor is arg for arg in args):
        alias._view_base = tensor if base is None else base
        alias._view_kind = BY_FUNCTION
        shared = own_alias(tensor)
        shared.outlived = True  # a write to an input without a history makes the view stale too
        shared.add_view(alias)
    return alias


def unrecorded(
    ctx: FunctionCtx, args: tuple[Any, ...], outputs: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The outputs of a call that leaves no node behind.

    An input among them counts a write if it is marked as dirty. Only one that is marked, and asks
    for no gradient, comes back as the same tensor.
    """
    given = {id(arg) for arg in args if isinstance(arg, Tensor)}
    if given.isdisjoint(map(id, outputs)):
        return outputs
    returned = []
    for output in outputs:
        is_dirty = id(output) in ctx._dirty
        if is_dirty:
            mark_written(output)
        if id(output) in given and output.edge is not None:
            output = output.detach()
        elif id(output) in given and not is_dirty:
            output = output.view_as(output)
        returned.append(output)
    return tuple(returned)

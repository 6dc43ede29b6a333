"""Inputs that the `forward` of a custom function returns, unchanged or modified in place."""

from __future__ import annotations

from typing import Any

from ..core.modes import is_grad_enabled
from ..core.storage import BY_FUNCTION, SEVERAL_VIEWS, base_of, own_alias, share_memory, view_kind
from ..core.tensor import Tensor, wrap
from ..core.user_warnings import warn
from ..inplace.ops import mark_written
from .context import FunctionCtx


def check_dirty(ctx: FunctionCtx, args: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Raise RuntimeError if a dirty input is not returned; warn if a dirty tensor is no input."""
    _check_returned(ctx, outputs)
    strangers = ctx._dirty - set(map(id, args))
    for output in outputs:
        if id(output) not in strangers:
            continue
        message = (
            "ctx.mark_dirty() received a tensor that was not an input. Only inputs that are "
            "modified inplace have to be marked."
        )
        if base_of(output) is not None:
            raise RuntimeError(message)
        warn(message)
        mark_written(output)
    ctx._dirty -= strangers


def _check_returned(ctx: FunctionCtx, outputs: tuple[Any, ...]) -> None:
    if not ctx._dirty <= set(map(id, outputs)):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. "
            "The inputs that are modified inplace must all be outputs of the Function."
        )


def check_pure_view(args: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Raise RuntimeError if a pure view has not one tensor argument and one output."""
    if [sum(isinstance(v, Tensor) for v in values) for values in (args, outputs)] != [1, 1]:
        raise RuntimeError(
            "Pure view custom Function can only have one input Tensor and one output Tensor: "
            "do not set ctx._is_pure_view here"
        )


def check_dirty_view(output: Tensor, count: int) -> None:
    """Raise RuntimeError if a view was modified by a function of several outputs."""
    if count > 1 and base_of(output) is not None:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your "
            "Function cannot return more than one Tensor: clone() the view, or split the Function."
        )


def alias_of(tensor: Tensor, args: tuple[Any, ...]) -> Tensor:
    """Return another tensor on the memory of an output, a view if that is an input or its view."""
    if _is_of_subclass(tensor):
        alias = Tensor.__new__(type(tensor))
        alias.array, alias.grad_node = tensor.array, None
    else:
        alias = wrap(tensor.array)
    share_memory(tensor, alias)
    base = base_of(tensor)
    if base is not None or any(tensor is arg for arg in args):
        alias._view_base = tensor if base is None else base
        shared = own_alias(tensor)
        shared.outlived = True  # a write to an input without a history makes the view stale too
        shared.add_view(alias)
    return alias


def _is_of_subclass(tensor: Tensor) -> bool:
    """Return whether a tensor is of a class of a user's, which the output of a function keeps."""
    kind = type(tensor)
    return kind is not Tensor and not getattr(kind, "_is_internal", False)


def restrict_view(ctx: FunctionCtx, output: Tensor, count: int) -> None:
    """Forbid in-place ops on a view among `count` outputs.

    Their gradient would bypass the function's `backward`.
    """
    if base_of(output) is None:
        return
    if not ctx._is_pure_view:
        output._view_kind = BY_FUNCTION if count == 1 else SEVERAL_VIEWS
    elif view_kind(output) is not None:
        del output._view_kind


def unrecorded(
    ctx: FunctionCtx, args: tuple[Any, ...], outputs: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Return the outputs of a call that makes no node.

    An input among them counts a write if it is dirty. Only one that is dirty, and requires
    no grad, is returned as the same tensor.
    """
    _check_returned(ctx, outputs)
    given = {id(arg) for arg in args if isinstance(arg, Tensor)}
    recording = is_grad_enabled()
    ctx._not_differentiable = frozenset(
        nr for nr, output in enumerate(outputs) if id(output) in ctx._not_differentiable
    )
    returned = []
    for output in outputs:
        if not isinstance(output, Tensor):
            returned.append(output)
            continue
        is_dirty = id(output) in ctx._dirty
        if is_dirty:
            mark_written(output)
        elif id(output) not in given and recording:
            restrict_view(ctx, output, len(outputs))
        if id(output) in given and output.grad_node is not None:
            output = output.detach()
        elif id(output) in given and not is_dirty:
            # A subclass answers ops in its own way: none is called.
            taken = _is_of_subclass(output)
            output = alias_of(output, args) if taken else output.view_as(output)
        returned.append(output)
    return tuple(returned)

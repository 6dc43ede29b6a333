"""Writing to duals: the tangents follow what in-place ops do to the values.

A tangent lies in memory as its primal does, and the tangent of a view is a view of the tangent of
its base. So a write to one of them is seen by all, as in PyTorch: also by the tensor that was given
to `make_dual` as the tangent. A plain tensor that is written to from a dual becomes one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..core.storage import base_of, share_alias
from ..core.tensor import Tensor, wrap
from ..kernels.shape.strided_region import Memory
from .dual import (
    Dual,
    Level,
    Parts,
    innermost_level,
    split,
    with_tangent,
    without_closed_levels,
    without_tangents,
)

WriteTangent: TypeAlias = Callable[[Any, Tensor | None], object]
"""Called with the tangent of what is written to and that of the source; the latter may be None."""


def copy_as(tensor: Tensor) -> Tensor:
    """Copy `tensor` as it is now, so that what a node keeps is not overwritten.

    Stands at the same place in the graph, and has the same tangents.
    """
    if isinstance(tensor, Dual):
        return with_tangent(copy_as(tensor.primal), copy_as(tensor.tangent), tensor.level)
    copied = wrap(tensor.array.copy())
    copied.grad_node = tensor.grad_node
    return copied


def copy_or_zero(tangent: Any, new: Tensor | None) -> None:
    """Overwrite a tangent; without a new one it is zero."""
    if new is None:
        tangent.zero_()
    else:
        tangent.copy_(new)


def follow_source(tensor: Tensor, sources: Sequence[Tensor], write: WriteTangent) -> None:
    """Do to the tangents of `tensor` what was done to its values from the only source, if any.

    `write` is called at each level at which one of the two has a tangent, innermost first.
    """
    written = without_closed_levels(tensor)
    source = without_closed_levels(sources[0]) if sources else None
    while (level := innermost_level([written, source])) is not None:
        primal, tangent = split(written, level)
        from_primal, from_tangent = split(source, level)
        if tangent is None:
            tangent = become_dual(written, level)
            primal = written.primal
        write(tangent, from_tangent)
        written, source = without_closed_levels(primal), without_closed_levels(from_primal)


def become_dual(tensor: Tensor, level: Level) -> Tensor:
    """Give a tensor a tangent of zeros, which is returned; its base and all views get theirs.

    RuntimeError for a dual of another level that has views, whose tangents would be lost.
    """
    plain = without_tangents(tensor)
    base = base_of(plain)
    root = plain if base is None else base
    views = [] if root.alias is None else root.alias.views_of(root)
    if isinstance(tensor, Dual) and (views or base is not None):
        raise RuntimeError(
            "writing a dual tensor of one level to a view, or a tensor with views, that is dual "
            "at another level is not supported: clone() it first"
        )
    memory = Memory(root.array)
    tangent = wrap(memory.show(root.array))
    new_root = _convert(tensor if base is None else root, tangent, level)
    for view in views:
        if type(view) is Tensor:
            of_view = wrap(memory.show(view.array))
            share_alias(tangent, of_view)
            _convert(view, of_view, level)._view_base = new_root
    made: Tensor = tensor._dual_parts.tangent
    return made


def _convert(tensor: Tensor, tangent: Tensor, level: Level) -> Tensor:
    """Make `tensor` itself a dual; returns its primal, which is what it was before."""
    primal = Tensor.__new__(Dual if isinstance(tensor, Dual) else Tensor)
    if isinstance(tensor, Dual):
        primal._dual_parts = tensor._dual_parts
    elif type(tensor) is Tensor:
        for slot in ("array", "grad_node", "alias", "_view_base", "_view_kind"):
            if hasattr(tensor, slot):
                setattr(primal, slot, getattr(tensor, slot))
                delattr(tensor, slot)
        if base_of(primal) is not None:
            assert primal.alias is not None
            primal.alias.add_view(primal)
        tensor.__class__ = Dual
    else:
        raise RuntimeError(f"a {type(tensor).__name__} cannot be written to from a dual tensor")
    tensor._dual_parts = Parts(primal, tangent, level)
    return primal

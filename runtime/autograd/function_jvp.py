"""Forward mode of custom functions: call their `jvp`, and check the tangents that it returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.storage import base_of, changes_of
from ..core.tensor import Tensor, wrap
from ..dtypes.kinds import DIFFERENTIABLE_KINDS
from ..forward_ad.dual import Dual, Level, split, with_tangent, without_tangents
from ..forward_ad.inplace_tangents import become_dual, copy_or_zero
from .context import FunctionCtx


def innermost_level(args: tuple[Any, ...]) -> Level | None:
    """Return the innermost open level among the duals in `args`."""
    levels = [arg.level for arg in args if isinstance(arg, Dual) and arg.level.open]
    return max(levels, key=lambda level: level.depth, default=None)


def attach_tangents(
    jvp: Callable[..., Any],
    ctx: FunctionCtx,
    args: tuple[Any, ...],
    outputs: tuple[Any, ...],
    level: Level,
    name: str,
) -> tuple[Any, ...]:
    """Run `jvp`; return duals of the outputs, plain tensors where it returns None.

    RuntimeError for a result that is no tangent of its output: one of another shape, or one that
    is not written in place, or no view, where the output is.
    """
    given = [split(arg, level)[1] for arg in args]
    tangents = [
        wrap(np.zeros_like(arg.array))
        if tangent is None and ctx._materialize and is_differentiable(arg)
        else tangent
        for arg, tangent in zip(args, given, strict=True)
    ]
    versions = [tangent if tangent is None else changes_of(tangent) for tangent in given]
    ctx._for_forward = ctx._for_forward or ()  # what was saved for `backward` is not shown
    found = jvp(ctx, *tangents)
    ctx._for_forward = None
    found = found if isinstance(found, tuple) else (found,)
    if len(found) != len(outputs):
        raise RuntimeError(f"{name}.jvp returned {len(found)} tangents for {len(outputs)} outputs")
    primals = tuple(split(arg, level)[0] for arg in args)
    duals = []
    for nr, (output, tangent) in enumerate(zip(outputs, found, strict=True)):
        if not is_differentiable(output) or nr in ctx._not_differentiable:
            _refuse(tangent, f"{name}.jvp", nr)
            duals.append(output)
            continue
        _check_tangent(f"{name}.jvp", nr, output, tangent)
        at = next((i for i, primal in enumerate(primals) if primal is output), None)
        if at is None:
            _check_view(output, tangent, primals, given)
            duals.append(output if tangent is None else with_tangent(output, tangent, level))
        else:
            duals.append(_written(args[at], given[at], versions[at], tangent, level))
    ctx._output_tangents.append((level, found))
    return tuple(duals)


def is_differentiable(value: object) -> bool:
    """Return whether a value is a tensor of a dtype that has derivatives."""
    # O: the symbols of a proof.
    return isinstance(value, Tensor) and value.array.dtype.kind in DIFFERENTIABLE_KINDS


def _refuse(tangent: object, jvp: str, nr: int) -> None:
    if tangent is not None:
        raise RuntimeError(
            f"{jvp} returned a gradient at position {nr}, but the forward output there is not a "
            "differentiable Tensor. You should return None at that position instead."
        )


def _check_tangent(jvp: str, nr: int, output: Tensor, tangent: object) -> None:
    if tangent is None:
        return
    if not isinstance(tangent, Tensor):
        raise RuntimeError(
            f"{jvp}: expected Variable or None (got {type(tangent).__name__}) for grad output {nr}"
        )
    if tangent.array.shape != output.array.shape:
        raise RuntimeError(
            f"{jvp} returned a tangent of shape {list(tangent.shape)} for output {nr}, which "
            f"has shape {list(output.shape)}"
        )


def _written(
    arg: Tensor, given: Tensor | None, version: int | None, tangent: Tensor | None, level: Level
) -> Tensor:
    """Return an argument that `forward` wrote to; check that `jvp` wrote to its tangent."""
    if given is None:
        copy_or_zero(become_dual(arg, level), tangent)
    elif tangent is not given or changes_of(given) == version:
        raise RuntimeError(
            "An inplace custom Function is not modifying the forward mode gradients inplace. If "
            "the forward modifies an input inplace, then the jvp function must modify the "
            "corresponding gradient inplace, and return it."
        )
    return arg


def _check_view(
    output: Tensor,
    tangent: Tensor | None,
    primals: Sequence[Any],
    given_tangents: Sequence[Tensor | None],
) -> None:
    """Raise RuntimeError if `output` is a view of an argument, but not `tangent` of its own."""
    base = base_of(without_tangents(output))
    if base is None or tangent is None:
        return
    for primal, given in zip(primals, given_tangents, strict=True):
        if not isinstance(primal, Tensor):
            continue
        base_of_arg = base_of(without_tangents(primal))
        if base is not (without_tangents(primal) if base_of_arg is None else base_of_arg):
            continue
        base_of_tangent = base_of(without_tangents(tangent))
        if base_of_tangent is None:
            raise RuntimeError(
                "A custom Function's forward is returning a view (or an input as-is) but the jvp "
                "is not returning a view."
            )
        if given is None:
            return
        base_of_given = base_of(without_tangents(given))
        expected = without_tangents(given) if base_of_given is None else base_of_given
        if base_of_tangent is not expected:
            whose = (
                "the given grad input"
                if base_of_arg is None
                else "the same base as the given grad input"
            )
            raise RuntimeError(
                "A custom Function is returning a view but the jvp is not returning a view of "
                f"{whose}."
            )
        return

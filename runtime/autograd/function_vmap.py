"""Custom functions inside `vmap`: by their own rule, or once for each example."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..batching.batched import Level, batch, innermost, is_of
from ..batching.call import in_loop
from ..core.tensor import Tensor, normalize_dim
from ..dispatch.registry import ops


class VmapInfo(NamedTuple):
    """The call of `vmap` around a custom function."""

    batch_size: int
    randomness: str


def apply_batched(function: Any, args: tuple[Any, ...], has_rule: bool) -> Any:
    """Apply a custom function to arguments some of which are batched.

    RuntimeError for one that neither has a rule of its own nor asks for one by
    `generate_vmap_rule`, and for one that does both.
    """
    name = function.__name__
    if has_rule and function.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {name}, but it has both generate_vmap_rule=True and an "
            "overriden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
            "overriden vmap staticmethod to avoid ambiguity."
        )
    level = innermost(args)
    if has_rule:
        return _by_rule(function, args, level)
    if not function.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {name}, but it does not have vmap support. Please override "
            "and implement the vmap staticmethod or set generate_vmap_rule=True."
        )
    names = [str(position) for position in range(len(args))]
    return in_loop(
        lambda **one: function.apply(*(one[each] for each in names)),
        dict(zip(names, args, strict=True)),
        level,
    )


def _by_rule(function: Any, args: tuple[Any, ...], level: Level) -> Any:
    in_dims = tuple(0 if is_of(arg, level) else None for arg in args)
    physical = [arg.physical if is_of(arg, level) else arg for arg in args]
    answer = function.vmap(VmapInfo(level.size, level.randomness), in_dims, *physical)
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise RuntimeError(
            f"{function.__name__}.vmap: expected a pair of the outputs and their batch dimensions"
        )
    outputs, out_dims = answer
    if not isinstance(outputs, tuple):
        return _batched(outputs, out_dims, level)
    dims = out_dims if isinstance(out_dims, tuple) else (out_dims,) * len(outputs)
    if len(dims) != len(outputs):
        raise RuntimeError(
            f"{function.__name__}.vmap: {len(dims)} batch dimensions for {len(outputs)} outputs"
        )
    return tuple(_batched(*pair, level) for pair in zip(outputs, dims, strict=True))


def _batched(output: Any, dim: int | None, level: Level) -> Any:
    if dim is None or not isinstance(output, Tensor):
        return output
    order = list(range(output.ndim))
    first = order.pop(normalize_dim(dim, output.ndim))
    return batch(ops.permute(output, [first, *order]), level)

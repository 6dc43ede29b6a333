"""Custom functions inside `vmap`: by their own rule, or once for each example."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..batching.batched import Batched, Level, batch, innermost, is_of
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
    level = innermost(_leaves(args))
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


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def is_batched(value: Any) -> bool:
    """Return whether an argument, or what is nested in it, differs between examples."""
    return any(type(leaf) is Batched for leaf in _leaves(value))


def _by_rule(function: Any, args: tuple[Any, ...], level: Level) -> Any:
    in_dims = _each(lambda arg: 0 if is_of(arg, level) else None, args)
    physical = _each(lambda arg: arg.physical if is_of(arg, level) else arg, args)
    answer = function.vmap(VmapInfo(level.size, level.randomness), in_dims, *physical)
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise RuntimeError(
            f"{function.__name__}.vmap: Expected the vmap staticmethod to have two returns, the "
            "outputs and their batch dimensions"
        )
    return _batched(*answer, level, function.__name__)


def _rebuilt(like: Any, items: list[Any]) -> Any:
    return type(like)(*items) if hasattr(like, "_fields") else type(like)(items)


def _each(function: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to a value, or to what stands in lists and tuples."""
    if isinstance(value, list | tuple):
        return _rebuilt(value, [_each(function, item) for item in value])
    return function(value)


def _batched(output: Any, dims: Any, level: Level, name: str) -> Any:
    """Outputs as batched tensors: `dims` is a structure like theirs, or a prefix of it."""
    if isinstance(output, list | tuple):
        if dims is None or isinstance(dims, int):
            dims = [dims] * len(output)
        elif type(dims) is not type(output) or len(dims) != len(output):
            raise _misfit(output, dims, name)
        pairs = zip(output, dims, strict=True)
        return _rebuilt(output, [_batched(*pair, level, name) for pair in pairs])
    if dims is None or not isinstance(output, Tensor):
        return output
    if not isinstance(dims, int):
        raise _misfit(output, dims, name)
    order = list(range(output.ndim))
    first = order.pop(normalize_dim(dims, output.ndim))
    return batch(ops.permute(output, [first, *order]), level)


def _misfit(output: Any, dims: Any, name: str) -> RuntimeError:
    return RuntimeError(
        f"{name}.vmap: the vmap staticmethod returned an incompatible (output, out_dims) tuple: "
        f"out_dims={dims} for a {type(output).__name__}"
    )

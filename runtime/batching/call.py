"""Ops on batched tensors: by the batching rule of the op, or in a loop over the examples.

A rule says how the op itself, called on the stacked examples with other arguments, gives the
stacked results, or names a function of other ops that does. The generator finds the rules of the
table and proves them (see `docs/proof.md`); `loops` counts what has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from ..core.modes import no_grad
from ..core.tensor import Tensor
from ..dispatch.dispatch import call, lift
from ..dispatch.registry import Op, ops
from ..dtypes.promotion import result_dtype
from .arrangement import Arrangement
from .batched import (
    Batched,
    Level,
    NoFit,
    batch,
    first,
    innermost,
    is_of,
    items,
    mapped,
    mapped_values,
)
from .rules import Rule, rules_of

loops: Final[Counter[str]] = Counter()
"""Counts of the calls of ops in a loop, by name, since the program began."""


def call_batched(op: Op, values: dict[str, Any]) -> Any:
    """Call an op on arguments by name, some of them batched.

    What the op refuses for one example it refuses for all.
    """
    level = innermost(item for value in values.values() for item in items(value))
    lifted = lift(op, values)
    _check_one_example(op, lifted, level)
    # What every example accepts and a rule refuses, the rule does not fit.
    refusals = (NoFit, IndexError, RuntimeError, ValueError) if level.size else (NoFit,)
    for rule in rules_of(op):
        with suppress(*refusals):
            return by_rule(rule, op, lifted, level)
    loops[op.name] += 1
    return in_loop(lambda **one: call(op, one), lifted, level)


_accepted: Final[set[tuple[Any, ...]]] = set()
"""Calls of one example that ops are known to accept, by shapes, dtypes and other arguments."""

MOST_ACCEPTED: Final = 10_000


def _check_one_example(op: Op, values: dict[str, Any], level: Level) -> None:
    """Raise what the op raises for one example: a matrix may do for all where one is a vector."""
    key = (op.name, *(_call_key(value) for value in values.values()))
    if key in _accepted or not level.size:
        return
    with no_grad():
        call(op, mapped_values(lambda tensor: first(tensor, level).detach(), values))
    if len(_accepted) >= MOST_ACCEPTED:
        _accepted.clear()
    _accepted.add(key)


def _call_key(value: Any) -> Any:
    """Reduce an argument to what decides whether an op accepts it, without values."""
    if isinstance(value, list | tuple):
        return tuple(map(_call_key, value))
    return (value.shape, value.dtype) if isinstance(value, Tensor) else repr(value)


def by_rule(rule: Rule, op: Op, values: dict[str, Any], level: Level) -> Any:
    """Call an op on tensors by name, some of them batched at `level`, by one rule.

    Raises NoFit where the rule does not hold for the call.
    """
    if not isinstance(rule, Arrangement):
        if any(isinstance(t, Tensor) and not t.numel() for v in values.values() for t in items(v)):
            raise NoFit  # definitions need elements that ops can do without
        return call(op._replace(function=rule), values)
    values = _of_one_dtype(op, values, level)
    results = rule.apply(lambda arranged: call(op, arranged), op, values, level)
    return mapped(lambda result: batch(result, level), results)


Batched._call_op = call_batched


def in_loop(function: Callable[..., Any], values: dict[str, Any], level: Level) -> Any:
    """Call a function on the arguments of each example, and stack what it returns."""
    rows = mapped_values(lambda tensor: _examples(tensor, level), values)
    results = [
        function(**{name: _row(value, nr) for name, value in rows.items()})
        for nr in range(level.size)
    ]
    if not results:
        raise RuntimeError("vmap: an operation without a batching rule needs at least one example")
    return _stacked(results, level)


class _Examples(tuple[Tensor, ...]):
    """One tensor for each example."""

    __slots__ = ()


def _examples(tensor: Tensor, level: Level) -> Any:
    return _Examples(ops.unbind(tensor.physical)) if is_of(tensor, level) else tensor  # type: ignore[attr-defined]


def _row(value: Any, nr: int) -> Any:
    if isinstance(value, _Examples):
        return value[nr]
    if isinstance(value, list | tuple):
        return type(value)(_row(item, nr) for item in value)
    return value


def _stacked(results: list[Any], level: Level) -> Any:
    first = results[0]
    if isinstance(first, Tensor):
        shapes = {result.array.shape for result in results}
        if len(shapes) > 1:
            raise RuntimeError(
                f"vmap: the results of the examples have different shapes: {sorted(shapes)}"
            )
        # Of one example it is a view, so that a write to it reaches the example.
        return batch(
            ops.unsqueeze(results[0], 0) if len(results) == 1 else ops.stack(results), level
        )
    if isinstance(first, list | tuple):
        made = [_stacked(list(column), level) for column in zip(*results, strict=True)]
        return type(first)(*made) if hasattr(first, "_fields") else type(first)(made)
    return first


def _of_one_dtype(op: Op, values: dict[str, Any], level: Level) -> dict[str, Any]:
    """Convert what is 0-dim for one example and decides no dtype there: stacked, it would."""
    names = [name for name in op.promotes if values.get(name) is not None]
    if not any(is_of(values[name], level) and not values[name].ndim for name in names):
        return values
    dtype = result_dtype(*(values[name].array for name in names))
    return values | {
        name: ops._to_copy(values[name], dtype=dtype)
        for name in names
        if not values[name].ndim and values[name].dtype != dtype
    }

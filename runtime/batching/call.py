"""Ops on batched tensors: by the batching rule of the op, or in a loop over the examples.

A rule says how the op itself, called on the stacked examples with other arguments, gives the
stacked results, or names a function of other ops that does. The generator finds the rules of the
table and proves them (see `docs/proof.md`); `loops` counts what has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from ..core.modes import no_grad
from ..core.tensor import Tensor
from ..dispatch.dispatch import call, lift
from ..dispatch.registry import Op, ops
from ..dtypes.promotion import result_dtype
from .arrangement import Arrangement, Plan
from .batched import (
    Batched,
    Level,
    NoFit,
    batch,
    first,
    is_of,
    items,
    mapped_values,
    unreadable,
)
from .rules import Rule, rules_of

loops: Final[Counter[str]] = Counter()
"""Counts of the calls of ops in a loop, by name, since the program began."""


def call_batched(innermost: Batched, op: Op, values: dict[str, Any]) -> Any:
    """Call an op on arguments by name, some of them batched, one at the innermost level of them.

    What the op refuses for one example it refuses for all.
    """
    innermost.physical  # noqa: B018 - refuses what outlived its level
    level = innermost.level
    for name in op.names.tensors:
        if type(values[name]) not in _IN_PLACE:
            values = lift(op, values)
            break
    key = (op.function, *[_call_key(values[name], level) for name in op.names.all])
    plan = _plans.get(key)
    if plan is not None:
        try:
            return plan(values, level)
        except _REFUSALS:
            pass  # for the values that the tensors have: the examples say whether they accept them
    return _decide(op, lift(op, values), level, key)


_IN_PLACE: Final = (Tensor, Batched, type(None))
"""Types of arguments that need no `lift` where a call like it has been through that."""

_REFUSALS: Final = (NoFit, IndexError, RuntimeError, ValueError)
"""Errors by which a rule does not fit what every example accepts."""

_plans: Final[dict[tuple[Any, ...], Plan]] = {}
"""The plans of calls by the op, the shapes and dtypes of tensors, and the other arguments.

Each is that of a call that has succeeded, so that one example is known to be accepted.
"""

MOST_PLANS: Final = 10_000


def _call_key(value: Any, level: Level) -> Any:
    """Reduce an argument to what a plan may depend on: no values of tensors, and no level."""
    if type(value) is Batched and value._level is level:
        physical = value._physical.array
        return (True, physical.shape, physical.dtype)
    if isinstance(value, Tensor):
        array = value.array
        return (False, array.shape, array.dtype)
    if isinstance(value, list | tuple):
        return tuple([_call_key(item, level) for item in value])
    return repr(value)


def _decide(op: Op, values: dict[str, Any], level: Level, key: tuple[Any, ...]) -> Any:
    """Call an op by the first of its rules that fits, or in a loop, and keep the plan."""
    _check_numbers(op, values)
    if level.size:
        _check_one_example(op, values, level)
    refusals = _REFUSALS if level.size else NoFit
    depends_on_values = False
    for rule in rules_of(op):
        try:
            plan = planned(rule, op, values, level)
            result = plan(values, level)
        except refusals as error:
            depends_on_values = depends_on_values or type(error) is not NoFit
        else:
            break
    else:
        plan = partial(_looped, op)
        result = plan(values, level)
    if not depends_on_values:
        if len(_plans) >= MOST_PLANS:
            _plans.clear()
        _plans[key] = plan
    return result


def _check_numbers(op: Op, values: dict[str, Any]) -> None:
    """Raise what `item()` raises for a number or size that differs between the examples.

    In a loop each example would have its own, and at one level of several the items are batched
    still: their number would be that of no example.
    """
    for name in op.names.all:
        if name not in op.names.tensors and _is_batched(values[name]):
            raise unreadable(f"'{name}' of {op.name} must be a number")


def _is_batched(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_is_batched, value))
    return type(value) is Batched


def _check_one_example(op: Op, values: dict[str, Any], level: Level) -> None:
    """Raise what the op raises for one example: a matrix may do for all where one is a vector."""
    with no_grad():
        call(op, mapped_values(lambda tensor: first(tensor, level).detach(), values))


def _looped(op: Op, values: dict[str, Any], level: Level) -> Any:
    loops[op.name] += 1
    return in_loop(lambda **one: call(op, one), values, level)


def by_rule(rule: Rule, op: Op, values: dict[str, Any], level: Level) -> Any:
    """Call an op on tensors by name, some of them batched at `level`, by one rule.

    Raises NoFit where the rule does not hold for the call.
    """
    return planned(rule, op, values, level)(values, level)


def planned(rule: Rule, op: Op, values: dict[str, Any], level: Level) -> Plan:
    """Plan a call of an op by one rule; NoFit where that does not hold."""
    if not isinstance(rule, Arrangement):
        if any(isinstance(t, Tensor) and not t.numel() for v in values.values() for t in items(v)):
            raise NoFit  # definitions need elements that ops can do without
        formula = op._replace(function=rule)
        return lambda values, _: call(formula, values)
    dtypes = _dtypes_of_one(op, values, level)
    plan = rule.plan(op, _converted(values, dtypes), level)
    return (lambda values, level: plan(_converted(values, dtypes), level)) if dtypes else plan


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


def _dtypes_of_one(op: Op, values: dict[str, Any], level: Level) -> dict[str, Any]:
    """The dtype of what is 0-dim for one example and decides none there: stacked, it would."""
    names = [name for name in op.promotes if values.get(name) is not None]
    if not any(is_of(values[name], level) and not values[name].ndim for name in names):
        return {}
    dtype = result_dtype(*(values[name].array for name in names))
    return {name: dtype for name in names if not values[name].ndim and values[name].dtype != dtype}


def _converted(values: dict[str, Any], dtypes: dict[str, Any]) -> dict[str, Any]:
    return values | {name: ops._to_copy(values[name], dtype=d) for name, d in dtypes.items()}

"""Forward mode: a dual tensor carries a tangent through the ops beside its value.

`Dual` is a subclass, so the fast path of an op, which asks for `Tensor` exactly, does not know
about it: a dual operand sends the call to `dispatch`, and from there to `call_with_tangents`.
Each level of forward mode has duals of its own. The primal and the tangent of a dual may be duals
of levels entered before, which is how forward mode is nested.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .alias import share_memory
from .registry import Op
from .tensor import Tensor, wrap


class Level:
    """One `with dual_level()` block; tangents count only while it is open."""

    __slots__ = ("depth", "open")

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.open = True


class Dual(Tensor):
    """A tensor with a tangent, the derivative of its value in the direction of a level."""

    __slots__ = ("level", "primal", "tangent")
    _is_internal = True  # no class of a user's that could override ops

    primal: Tensor
    tangent: Tensor
    level: Level


class _Levels(threading.local):
    """The open levels of one thread, outermost first."""

    def __init__(self) -> None:
        self.stack: list[Level] = []


_levels: Final = _Levels()


def enter_level() -> Level:
    """Open a level inside those that are open."""
    level = Level(len(_levels.stack))
    _levels.stack.append(level)
    return level


def exit_level(level: Level) -> None:
    """Close the innermost level: its duals lose their tangents.

    Raises RuntimeError if `level` is not the innermost.
    """
    if not _levels.stack or _levels.stack[-1] is not level:
        raise RuntimeError("levels of forward mode must be closed in the reverse of their order")
    _levels.stack.pop().open = False


def current_level() -> Level | None:
    """The innermost open level."""
    return _levels.stack[-1] if _levels.stack else None


def with_tangent(primal: Tensor, tangent: Tensor, level: Level) -> Dual:
    """A dual on the memory of `primal`, at the same place in the backward graph."""
    dual = Tensor.__new__(Dual)
    dual.array = primal.array
    dual.edge = primal.edge
    dual.alias = None
    share_memory(primal, dual)
    dual.primal = primal
    dual.tangent = tangent
    dual.level = level
    return dual


def split(value: Any, level: Level) -> tuple[Any, Tensor | None]:
    """The primal and the tangent at `level`; `value` itself if it is no dual of that level."""
    if isinstance(value, Dual) and value.level is level:
        return value.primal, value.tangent
    return value, None


def without_closed_levels(value: Any) -> Any:
    """What is below the duals whose level is closed."""
    while isinstance(value, Dual) and not value.level.open:
        value = value.primal
    return value


def call_with_tangents(op: Op, values: dict[str, Any]) -> Any:
    """Call an op on arguments by name, some of them duals.

    The innermost level is taken off: the op runs on the primals (and comes back here if they are
    duals of an outer level), then its JVP on primals and tangents, which are handed over by the
    names of the table. RuntimeError if the op has no JVP.
    """
    from .dispatch import call, lift  # which imports this module

    values = {name: _map(without_closed_levels, value) for name, value in values.items()}
    level = _innermost_level(values)
    if level is None:
        return call(op, lift(op, values))
    if op.jvp is None and op.differentiable:
        raise RuntimeError(
            f"Trying to use forward AD with {op.name} that does not support it: its entry in the "
            "table has no JVP. Use reverse mode instead."
        )
    lifted = lift(op, {name: _primal(value, level) for name, value in values.items()})
    result = call(op, lifted)
    if op.jvp is None:
        return result
    primals, tangents = {}, {}
    for param in op.params:
        # The functions spell ATen's `self` as PyTorch's do.
        name = "self" if param.name == "input" else param.name
        primals[name] = lifted[param.name]
        if param.type.startswith("Tensor"):
            tangents[name] = _tangent(values[param.name], lifted[param.name], level)
    return _attach(result, op.jvp(primals, tangents, result), level)


def _innermost_level(values: dict[str, Any]) -> Level | None:
    levels = []
    for value in values.values():
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, Dual):
                levels.append(item.level)
    return max(levels, key=lambda level: level.depth, default=None)


def _map(function: Callable[[Any], Any], value: Any) -> Any:
    """Apply `function` to an argument, or to every item of a list."""
    if isinstance(value, list | tuple):
        return type(value)(map(function, value))
    return function(value)


def _primal(value: Any, level: Level) -> Any:
    return _map(lambda item: split(item, level)[0], value)


def _tangent(value: Any, lifted: Any, level: Level) -> Any:
    """The tangent of an argument: zeros where it has none, None where it cannot have one."""
    if isinstance(lifted, list | tuple):
        return [_tangent(*pair, level) for pair in zip(value, lifted, strict=True)]
    if lifted is None:
        return None
    tangent = split(value, level)[1]
    return wrap(np.zeros_like(lifted.array)) if tangent is None else tangent


def _attach(result: Any, tangent: Any, level: Level) -> Any:
    """Duals of the results; one whose tangent is None is not differentiable."""
    if tangent is None:
        return result
    if isinstance(result, list | tuple):
        duals = [_attach(*pair, level) for pair in zip(result, tangent, strict=True)]
        # A named tuple takes its fields one by one.
        return type(result)(*duals) if hasattr(result, "_fields") else type(result)(duals)
    return with_tangent(result, tangent, level)

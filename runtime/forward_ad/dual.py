"""Forward mode: a dual tensor carries a tangent through the ops beside its value.

`Dual` is a subclass, so the fast path of an op, which asks for `Tensor` exactly, does not know
about it: a dual operand sends the call to `dispatch`, and from there to `call_with_tangents`.
Each level of forward mode has duals of its own. The primal and the tangent of a dual may be duals
of levels entered before, which is how forward mode is nested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final
from weakref import ref

import numpy as np

from ..core import levels
from ..core.node import Node
from ..core.storage import base_of
from ..core.tensor import Tensor
from ..dispatch.absent import zeros_if_absent
from ..dispatch.dispatch import call, lift
from ..dispatch.registry import Op, ops
from ..dtypes.kinds import is_symbolic
from ..dtypes.promotion import LAST_INTEGER
from .saved_duals import keep_duals
from .tangent_layout import lying_as


class Level(levels.Level):
    """One `with dual_level()` block; tangents count only while it is open."""

    __slots__ = ("keepers",)

    def __init__(self) -> None:
        super().__init__()
        self.keepers: list[ref[Node]] = []
        """Nodes that keep tangents of their outputs, and with those perhaps themselves."""


class Parts:
    """The primal, the tangent and the level of a dual."""

    __slots__ = ("level", "primal", "tangent")

    def __init__(self, primal: Tensor, tangent: Tensor, level: Level) -> None:
        self.primal = primal
        self.tangent = tangent
        self.level = level


def _of_primal(name: str) -> Any:
    """An attribute that a dual has in common with its primal."""

    def get(dual: Dual) -> Any:
        return getattr(dual.primal, name)

    def set(dual: Dual, value: Any) -> None:
        setattr(dual.primal, name, value)

    return property(get, set)


class Dual(Tensor):
    """A tensor with a tangent, the derivative of its value in the direction of a level.

    The memory, its versions and the place in the backward graph are those of the primal.
    """

    __slots__ = ()
    _is_internal = True  # no class of a user's that could override ops
    _dual_parts: Parts

    array = _of_primal("array")
    grad_node = _of_primal("grad_node")
    alias = _of_primal("alias")
    _view_base = _of_primal("_view_base")
    _view_kind = _of_primal("_view_kind")

    @property
    def primal(self) -> Tensor:
        """The value: a tensor without this tangent, or a dual of a level entered before."""
        return self._dual_parts.primal

    @property
    def tangent(self) -> Tensor:
        """The derivative."""
        return self._dual_parts.tangent

    @property
    def level(self) -> Level:
        """The level that the tangent belongs to."""
        return self._dual_parts.level

    def _call_op(self, op: Op, values: dict[str, Any]) -> Any:
        """Call an op on arguments by name, some of them duals: see `call_with_tangents`."""
        return call_with_tangents(op, values)

    def _as_operand(self) -> Tensor:
        """Return the dual itself, whose tangent is taken off by `_call_op`."""
        return self

    def detach_(self) -> Tensor:
        """Cut this tensor off from the graph, and drop the tangent."""
        self.primal.detach_()
        self._dual_parts.level = _CLOSED
        return self


_CLOSED: Final = Level()


def enter_level() -> Level:
    """Open a level inside those that are open."""
    level = Level()
    levels.enter(level)
    return level


def exit_level(level: Level) -> None:
    """Close the innermost level: its duals lose their tangents.

    Raises RuntimeError if `level` is not the innermost.
    """
    levels.leave(level)
    for keeper in level.keepers:
        node = keeper()
        if node is not None and node.hooks is not None:
            node.hooks.tangents = [kept for kept in node.hooks.tangents if kept[2] is not level]
    level.keepers.clear()


def current_level() -> Level | None:
    """The innermost open level of forward mode."""
    opened = levels.open_levels()
    return next((level for level in reversed(opened) if isinstance(level, Level)), None)


def with_tangent(primal: Tensor, tangent: Tensor, level: Level) -> Dual:
    """A dual on the memory of `primal`, at the same place in the backward graph."""
    dual = Tensor.__new__(Dual)
    dual._dual_parts = Parts(primal, tangent, level)
    return dual


def tangents_of(tensor: Tensor) -> tuple[tuple[Tensor, Level], ...]:
    """The tangents of a tensor at all levels, outermost first."""
    found = []
    while isinstance(tensor, Dual):
        found.append((tensor.tangent, tensor.level))
        tensor = tensor.primal
    return tuple(reversed(found))


def with_tangents(tensor: Tensor, tangents: Iterable[tuple[Tensor, Level]]) -> Tensor:
    """The opposite of `tangents_of`, for the levels that are still open."""
    for tangent, level in tangents:
        tensor = with_tangent(tensor, tangent, level) if level.open else tensor
    return tensor


def without_tangents(tensor: Tensor) -> Tensor:
    """The plain tensor whose values and history `tensor` has."""
    while isinstance(tensor, Dual):
        tensor = tensor.primal
    return tensor


def split(value: Any, level: Level) -> tuple[Any, Tensor | None]:
    """The primal and the tangent at `level`; `value` itself if it is no dual of that level."""
    if not isinstance(value, Dual) or value.level is not level:
        return value, None
    primal, tangent = value.primal, value.tangent
    while isinstance(primal, Dual) and primal.level is level:
        primal = primal.primal  # written to, and so made a dual, after `value` was
    return primal, tangent


def without_closed_levels(value: Any) -> Any:
    """Return what is below the duals whose level is closed."""
    while isinstance(value, Dual) and not value.level.open:
        value = value.primal
    return value


def call_with_tangents(op: Op, values: dict[str, Any]) -> Any:
    """Call an op on arguments by name, some of them duals.

    The innermost level is taken off: the op runs on the primals (and comes back here if they are
    duals of an outer level), then its JVP on those primals and tangents that it asks for by name.
    A tangent that an argument does not have is None, not zeros, which would be multiplied. Where
    the JVP asks for no tangent that is there, the result has none, as in PyTorch.
    NotImplementedError if the op has no JVP.
    """
    values = {name: _map(without_closed_levels, value) for name, value in values.items()}
    level = innermost_level(values.values())
    if level is None:
        return call(op, lift(op, values))
    has_rule = op.jvp is not None or bool(op.linear_in)
    if not has_rule and op.differentiable:
        raise NotImplementedError(
            f"Trying to use forward AD with {op.name} that does not support it: its entry in the "
            "table has no JVP. Use reverse mode instead."
        )
    lifted = lift(op, {name: _primal(value, level) for name, value in values.items()})
    result = call(op, lifted)
    if not has_rule:
        return result
    tangents = {
        f"{param.name}_t": _tangent(values[param.name], level)
        for param in op.params
        if param.type.startswith("Tensor")
    }
    tangent = _tangent_of_result(op, tangents, _in_floats(op, lifted), result)
    if tangent is not None:
        result = _attach(result, tangent, level, _arrays_of(tangents))
    keep_duals(result, [(values[name], lifted[name]) for name in lifted])
    return result


def _in_floats(op: Op, lifted: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a JVP, with those of whole numbers in the dtype of the floats beside them.

    See `dispatch.in_floats`, of which this is the forward mode.
    """
    promoted = [(name, lifted[name]) for name in op.promotes if lifted[name] is not None]
    whole = [name for name, tensor in promoted if tensor.dtype.num <= LAST_INTEGER]
    if not whole or len(whole) == len(promoted):
        return lifted
    dtype = np.result_type(*(t.dtype for name, t in promoted if name not in whole))
    if is_symbolic(dtype):
        return lifted
    return lifted | {name: ops._to_copy(lifted[name], dtype=dtype) for name in whole}


def _tangent_of_result(
    op: Op, tangents: dict[str, Any], lifted: dict[str, Any], result: Any
) -> Any:
    """Apply the JVP of an op; None if none of the tangents that it asks for is there."""
    if op.jvp is not None:
        given = _given(op.jvp, tangents, lifted, result)
        return None if given is None else op.jvp(**given)
    asked = {name: tangents[f"{name}_t"] for name in op.linear_in}
    if all(tangent is None for tangent in asked.values()):
        return None
    filled = {name: zeros_if_absent(tangent, lifted[name]) for name, tangent in asked.items()}
    return call(op, lifted | filled)


def _given(
    jvp: Callable[..., Any], tangents: dict[str, Any], lifted: dict[str, Any], result: Any
) -> dict[str, Any] | None:
    """Collect the arguments that a JVP names; None if none of its tangents is there."""
    code = jvp.__code__
    names = code.co_varnames[: code.co_argcount]
    sources = {name: _PUBLIC.get(name, name) for name in names}
    asked = tangents.keys() & sources.values() or tangents.keys()
    if all(tangents[name] is None for name in asked):
        return None
    known = lifted | tangents | {"result": result}
    return {name: known[source] for name, source in sources.items()}


_PUBLIC: Final = {"self": "input", "self_t": "input_t"}
"""The spelling of ATen's `self` in functions, which is PyTorch's; rules say `self`."""


def innermost_level(values: Iterable[Any]) -> Level | None:
    """The innermost open level among the duals in `values`, or in lists there."""
    found = []
    for value in values:
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, Dual) and item.level.open:
                found.append(item.level)
    return max(found, key=lambda level: level.depth, default=None)


def _map(function: Callable[[Any], Any], value: Any) -> Any:
    """Apply `function` to an argument, or to every item of a list."""
    if isinstance(value, list | tuple):
        return type(value)(map(function, value))
    return function(value)


def _primal(value: Any, level: Level) -> Any:
    return _map(lambda item: split(item, level)[0], value)


def _tangent(value: Any, level: Level) -> Any:
    """The tangent of an argument, None where it has none; a list if that of any item is there."""
    if isinstance(value, list | tuple):
        tangents = [_tangent(item, level) for item in value]
        return None if all(tangent is None for tangent in tangents) else tangents
    return split(value, level)[1]


def _arrays_of(tangents: dict[str, Any]) -> list[Any]:
    values = [v if isinstance(v, list | tuple) else [v] for v in tangents.values()]
    return [tensor.array for value in values for tensor in value if tensor is not None]


def _attach(result: Any, tangent: Any, level: Level, given: list[Any]) -> Any:
    """Duals of the results; one whose tangent is None has none, nor have whole numbers one.

    A result on memory of its own gets a tangent on memory of its own, so that writing to the one
    (see `inplace_tangents`) is right for the other, too.
    """
    if tangent is None:
        return result
    if isinstance(result, list | tuple):
        duals = [_attach(*pair, level, given) for pair in zip(result, tangent, strict=True)]
        # A named tuple takes its fields one by one.
        return type(result)(*duals) if hasattr(result, "_fields") else type(result)(duals)
    if result.dtype.num <= LAST_INTEGER:
        return result
    tangent = _like(tangent, result)
    if base_of(result) is None:
        if any(np.may_share_memory(tangent.array, array) for array in given):
            tangent = ops.clone(tangent)
        tangent = lying_as(tangent, result)
    return with_tangent(result, tangent, level)


def _like(tangent: Tensor, result: Tensor) -> Tensor:
    """A tangent of the result's shape and dtype: that of one operand may be narrower."""
    mine, other = tangent.array, result.array
    if mine.shape != other.shape:
        tangent = ops.expand(tangent, other.shape)
    if mine.dtype != other.dtype and not (is_symbolic(mine.dtype) or is_symbolic(other.dtype)):
        tangent = ops._to_copy(tangent, dtype=other.dtype)
    return tangent

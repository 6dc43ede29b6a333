"""What the runtime knows about each op: filled by generated packages when they are imported."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple


class Param(NamedTuple):
    """One parameter: its name as the function spells it, its ATen type, and its default."""

    name: str
    type: str
    keyword_only: bool = False
    required: bool = True


class Op(NamedTuple):
    """One entry of the table, at run time."""

    name: str
    """`add.Tensor`"""
    function: Callable[..., Any]
    params: tuple[Param, ...]
    promotes: tuple[str, ...] = ()
    """Tensor parameters that are brought to one dtype."""
    jvp: Callable[..., Any] | None = None
    """`jvp(primals, tangents, result)`: see `forward_ad`."""
    differentiable: bool = True
    """Whether the outputs depend on the inputs smoothly anywhere; a comparison's do not."""


OPS: Final[dict[Callable[..., Any], Op]] = {}
"""By function; an op is called by its function, so that is what the slow path looks up."""


def register(ops: tuple[Op, ...]) -> None:
    """Make ops known; a name that is taken is an error, not a replacement."""
    taken = {op.name for op in OPS.values()}
    for op in ops:
        if op.name in taken:
            raise ValueError(f"op {op.name!r} is already registered")
        taken.add(op.name)
        OPS[op.function] = op


@cache
def table_op(name: str) -> Callable[..., Any]:
    """The op of the table called `name`, of any overload unless the name says which.

    LookupError if there is none.
    """
    for function, op in OPS.items():
        if name in (op.name, op.name.partition(".")[0]):
            return function
    raise LookupError(f"the runtime needs the op {name!r}, which the table does not have")

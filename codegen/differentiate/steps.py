"""The steps of a definition: each one calls an op, or is an operator, and has a name."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

from ..ir.nodes import (
    Assign,
    Attribute,
    Binary,
    Call,
    Compare,
    Conditional,
    Expr,
    Logic,
    Name,
    Sequence,
    Star,
    Subscript,
    Unary,
)
from ..ir.walk import calls
from ..render.resolve import HELPERS
from ..spec.elementwise import is_elementwise
from ..spec.model import Formula, OpSpec
from .shapes import Shapes


@dataclass(frozen=True, slots=True)
class Step:
    """The call of one op, whose arguments are names or do not depend on what is differentiated."""

    targets: tuple[str, ...]
    value: Expr
    op: OpSpec | None
    """None for an operator."""
    args: dict[str, Expr] = field(default_factory=dict)
    """The arguments of the op, by name."""

    @property
    def is_elementwise(self) -> bool:
        """True if each element is computed from the elements that are broadcast to its place."""
        if self.op is None:
            return not (isinstance(self.value, Binary) and self.value.op == "@")
        return len(self.targets) == 1 and is_elementwise(self.op)

    @property
    def takes_larger(self) -> bool:
        """True if the gradient of its result may be larger than that: it is only multiplied."""
        rules = [] if self.op is None else [rule for _, rule in self.op.vjps]
        called = [c for r in rules if isinstance(r, Formula) for c in calls(r.block)]
        return self.is_elementwise and not any(_needs_shape(call) for call in called)


@dataclass
class Program:
    """The steps of a definition along one way through its conditions."""

    shapes: Shapes
    steps: list[Step] = field(default_factory=list)
    constants: list[Assign] = field(default_factory=list)
    """Assignments of what does not depend on the differentiated arguments."""
    active: set[str] = field(default_factory=set)
    """The names of what depends on them."""
    complex: dict[str, bool] = field(default_factory=dict)
    """True for complex values; absent are those that are complex if arguments are."""

    still: set[str] = field(default_factory=set)
    """Values that are taken for constants, as no output depends on them in the end."""

    bounded: dict[str, str] = field(default_factory=dict)
    """Values that rules may read in bounds, with the names of these."""

    def moving(self, names: Set[str]) -> set[str]:
        """The values that depend on those of some names, and these."""
        found = set(names)
        for step in self.steps:
            read = [step.value] if step.op is None else list(step.args.values())
            if any(depends(expr, found) for expr in read):
                found |= (self.active & {*step.targets}) - self.still
        return found


def _needs_shape(call: Call) -> bool:
    """Return whether a rule calls what takes gradients of one shape only."""
    return call.function.endswith("_backward") or (
        call.function.startswith("_") and call.function not in ("_itself", "_zero", "_choice")
    )


def depends(expr: Any, active: set[str]) -> bool:
    """Return whether elements of some names are read as numbers, and not compared."""
    match expr:
        case Name(name):
            return name in active
        case Attribute() | Compare() | Logic() | Unary("not" | "~"):
            return False
        case Call(function, args, kwargs):
            if function in HELPERS:
                return False
            parts = [*args, *(value for _, value in kwargs)]
            return any(depends(part, active) for part in parts)
        case Unary(_, operand):
            return depends(operand, active)
        case Binary(_, left, right):
            return depends(left, active) or depends(right, active)
        case Sequence(items):
            return any(depends(item, active) for item in items)
        case Subscript(value, _) | Star(value):
            return depends(value, active)
        case Conditional(_, then, otherwise):
            return depends(then, active) or depends(otherwise, active)
    return False

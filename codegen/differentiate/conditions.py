"""Decide the conditions of a definition, and which of its values are complex numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from ..ir.nodes import (
    Attribute,
    Binary,
    Call,
    Compare,
    Const,
    Expr,
    Logic,
    Name,
    Subscript,
    Unary,
)
from ..ir.simplify import simplify, truth
from ..ir.walk import calls, children, names, substitute
from ..render.resolve import Target
from ..render.to_text import formula_text
from ..spec.model import OpSpec
from ..spec.primitives import derivation_facts
from .steps import Program
from .terms import NoDerivative, Undecided


class Conditions:
    """Assumptions and facts about the values of one program."""

    def __init__(
        self,
        program: Program,
        assumed: Mapping[str, bool],
        arguments: set[str],
        *,
        is_complex: bool,
        target: Callable[[Call], Target],
    ) -> None:
        self._program = program
        self._assumed = assumed
        self._arguments = arguments
        self._is_complex = is_complex
        self._target = target
        self.bound: dict[str, Expr] = {}
        """The values that rules gave a name to."""

    @property
    def has_complex(self) -> bool:
        """True if some value may be complex."""
        return self._is_complex or True in self._program.complex.values()

    def note_field(self, name: str, value: Expr) -> None:
        """Learn that a name is complex if a value is."""
        is_complex = self.is_complex(value)
        if is_complex is None:
            self._program.complex.pop(name, None)
        else:
            self._program.complex[name] = is_complex

    def decided(self, test: Expr) -> bool:
        """Decide a condition. Raises Undecided."""
        test = simplify(test)
        known = truth(test)
        if known is not None:
            return known
        match test:
            case Unary("not", operand):
                return not self.decided(operand)
            case Compare("==", Binary("/", Const(int() | float() as top)), Const(0)) if top:
                return False
            case Logic("and", operands):
                return all(self.decided(operand) for operand in operands)
            case Logic("or", operands):
                return any(self.decided(operand) for operand in operands)
            case Compare("is not", left, right):
                return not self.decided(Compare("is", left, right))
            case Compare("!=", left, right):
                return not self.decided(Compare("==", left, right))
            case Call("is_complex", (value,)):
                found = self.is_complex(value)
                if found is not None:
                    return found
                if not isinstance(value, Name) or value.id not in self._arguments:
                    return self._is_made_of_complex(value)
        test = _with_number_behind(self.by_arguments(test))
        match test:
            case Compare("<", size, Const(0)) if is_size(size):
                return False
            case Compare(op, left, right) if (known := _by_numbers(op, left, right)) is not None:
                return known
        assumed = self._assumed.get(formula_text(test))
        if assumed is None:
            raise Undecided(test)
        return assumed

    def known(self, test: Expr) -> bool | None:
        """Decide a condition; return None if that is not possible."""
        try:
            return self.decided(test)
        except Undecided:
            return None

    def is_complex(self, value: Expr) -> bool | None:
        """Return whether a value is complex; None if that depends on the arguments."""
        match value:
            case Name(name):
                if not self._is_complex and name not in self._program.complex:
                    return False if name not in self.bound else self.is_complex(self.bound[name])
                return self._program.complex.get(name)
            case Call():
                with suppress(NoDerivative):
                    target = self._target(value)
                    return self.field(value, target.op, target.args)
                return None if self._is_complex else False
        return self.field(value, None, {})

    def field(self, value: Expr, op: OpSpec | None, args: Mapping[str, Expr]) -> bool | None:
        """Return whether the value of a step is complex."""
        facts = derivation_facts()
        if op is not None and (op.signature.name in facts.making_real or op.real_only):
            return False
        if op is not None and op.signature.name in facts.making_complex:
            return True
        read = children(value) if op is None else args.values()
        known = [self.is_complex(part) for part in read if isinstance(part, Expr)]
        return True if True in known else None if None in known else False

    def _is_made_of_complex(self, value: Expr) -> bool:
        """Return whether a value is complex, if that is so where one of the arguments is."""
        value = self.by_arguments(value)
        if any(call.function in derivation_facts().making_real for call in calls(value)):
            raise Undecided(Call("is_complex", (value,)))
        read = dict.fromkeys(name.id for name in names(value) if name.id in self._arguments)
        return any(self.decided(Call("is_complex", (Name(name),))) for name in read)

    def by_arguments(self, test: Expr) -> Expr:
        """An expression with the values of its names written out, down to the arguments."""
        values = dict(self.bound)
        values |= {made.targets[0]: made.value for made in self._program.constants}
        for step in self._program.steps:
            if len(step.targets) == 1:
                values[step.targets[0]] = step.value
            else:
                items = (Subscript(step.value, Const(k)) for k in range(len(step.targets)))
                values |= dict(zip(step.targets, items, strict=True))
        while any(name.id in values for name in names(test)):
            test = substitute(test, values)
        return test


_MORE_DIMENSIONS = frozenset({"stack", "unsqueeze"})
"""Ops whose results have a dimension, whatever their arguments are."""


def _by_numbers(op: str, left: Expr, right: Expr) -> bool | None:
    """Decide a comparison of numbers alone: `n - 2 == n - 1` never holds."""
    match op, left, right:
        case "==", Attribute(Call(function), "ndim"), Const(0) if function in _MORE_DIMENSIONS:
            return False
    (one, rest), (other, same) = _apart(left), _apart(right)
    if op not in ("==", "<", "<=", ">", ">=") or rest != same:
        return None
    return truth(Compare(op, Const(one), Const(other)))


_MIRRORED = {"==": "==", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _with_number_behind(test: Expr) -> Expr:
    """A comparison of a size with a number, that alone on the right: not `3 == x.ndim + 1`."""
    match test:
        case Compare(op, left, right) if op in _MIRRORED:
            (one, rest), (other, same) = _apart(left), _apart(right)
            if rest is not None and same is None and is_size(rest):
                return Compare(op, rest, Const(other - one))
            if rest is None and same is not None and is_size(same):
                return Compare(_MIRRORED[op], same, Const(one - other))
    return test


def _apart(size: Expr) -> tuple[float, Expr | None]:
    """A sum as a number and the rest of it."""
    match size:
        case Const(int(number)) if not isinstance(number, bool):
            return number, None
        case Unary("-", Const(int(number))) if not isinstance(number, bool):
            return -number, None
        case Binary("+", left, right):
            (one, first), (other, second) = _apart(left), _apart(right)
            if first is None or second is None:
                return one + other, second if first is None else first
        case Binary("-", left, Const(int() as number)):
            one, first = _apart(left)
            return one - number, first
    return 0, size


def is_size(expr: Expr) -> bool:
    """Return whether an expression is made of extents, and so never negative."""
    match expr:
        case Const(int() as value):
            return value >= 0
        case Attribute(_, "ndim") | Subscript(Attribute(_, "shape")) | Call("numel" | "len"):
            return True
        case Binary("+" | "*" | "//" | "%", left, right):
            return is_size(left) and is_size(right)
    return False

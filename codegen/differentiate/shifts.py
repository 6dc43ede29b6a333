"""Values that a definition takes off and that cancel, as the largest element of a softmax does.

`e = exp(x - amax(x)); e / sum(e)` is the same for any number in the place of `amax(x)`. So nothing
of its derivative comes by way of it, and a derived rule leaves that way out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ..ir.nodes import Binary, Call, Const, Expr, Name, Sequence, Unary
from ..render.to_text import formula_text
from ..spec.model import OpSpec
from .steps import Program, Step, depends


@dataclass(frozen=True, slots=True)
class Sum:
    """`v + count * m`, where `v` does not depend on the shift `m`."""

    count: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Product:
    """`v * exp(count * m)`."""

    count: Fraction


Form: TypeAlias = Sum | Product | None
"""Dependence of a value on the shift; None where that is not known."""

FREE = Sum()


_REDUCING = frozenset({"sum", "mean", "amax", "amin", "logsumexp"})
_ALONG_ROWS = frozenset({"_softmax", "_log_softmax"})


def cancelling(program: Program, outputs: Iterable[Expr]) -> set[str]:
    """The values of a program that are taken off others, and that no output depends on."""
    shifts = {
        step.value.right.id
        for step in program.steps
        if isinstance(step.value, Binary)
        and step.value.op == "-"
        and isinstance(step.value.right, Name)
    }
    made = {step.targets[0]: step for step in program.steps if len(step.targets) == 1}
    return {
        shift
        for shift in shifts & made.keys()
        if _Reading(program, made[shift]).is_free_of(shift, outputs)
    }


class _Reading:
    """The forms of all values of a program for one shift."""

    def __init__(self, program: Program, shift: Step) -> None:
        self._steps = program.steps
        self._dim = _dim(shift.op, shift.args)
        """The dimension along which the shift is one number; None if it is not known to be."""
        self._forms: dict[str, Form] = {}

    def is_free_of(self, shift: str, outputs: Iterable[Expr]) -> bool:
        """Return whether no output depends on the shift."""
        for step in self._steps:
            form = Sum(Fraction(1)) if shift in step.targets else self._form(step)
            self._forms |= dict.fromkeys(step.targets, form)
        return all(self._of(output) == FREE for output in outputs)

    def _of(self, expr: Expr) -> Form:
        """The form of an argument of a step."""
        match expr:
            case Name(name):
                return self._forms.get(name, FREE)
        dependent = {name for name, form in self._forms.items() if form != FREE}
        return None if depends(expr, dependent) else FREE

    def _form(self, step: Step) -> Form:
        read = [step.value] if step.op is None else list(step.args.values())
        match step.value:
            case Unary("-", operand):
                return _times(self._of(operand), Fraction(-1))
            case Binary("+" | "-" as op, left, right):
                sign = Fraction(1 if op == "+" else -1)
                return _sum(self._of(left), _times(self._of(right), sign))
            case Binary("*" | "/" as op, left, right):
                return _product(op, left, right, self._of(left), self._of(right))
            case Binary("@", left, right) if self._of(right) == FREE:
                form = self._of(left)
                is_along = self._dim == "-1" and isinstance(form, Product)
                return form if form == FREE or is_along else None
            case Call("where", (test, then, otherwise)) if self._of(test) == FREE:
                one, other = self._of(then), self._of(otherwise)
                if one == other or otherwise == Const(0):
                    return one if one == other or isinstance(one, Product) else None
                return None
            case Call(function, _) if step.op is not None:
                return self._of_op(function, step.op, step.args)
        return FREE if all(self._of(expr) == FREE for expr in read) else None

    def _of_op(self, function: str, op: OpSpec, args: Mapping[str, Expr]) -> Form:
        first, *others = (p.name for p in op.signature.params)
        form = self._of(args[first])
        if any(self._of(args[name]) != FREE for name in others):
            return None
        if form == FREE:
            return FREE
        is_along = self._dim is not None and _dim(op, args) == self._dim
        match function, form:
            case "exp", Sum(count):
                return Product(count)
            case "log", Product(count):
                return Sum(count)
            case (("sum" | "mean"), Product()) if is_along:
                return form
            case (("mean" | "logsumexp" | "amax" | "amin"), Sum()) if is_along:
                return form
            case (("_softmax" | "_log_softmax"), Sum()) if is_along:
                return FREE
            case (("tril" | "triu"), Product()):
                return form
            case (("squeeze" | "unsqueeze" | "view" | "reshape"), _):
                return form
        return None


def _dim(op: OpSpec | None, args: Mapping[str, Expr]) -> str | None:
    """The dimension that an op reduces, as text; all of them if it is told none."""
    if op is None or op.signature.name not in _REDUCING | _ALONG_ROWS:
        return None
    dim = args.get("dim", Const(None))
    return "None" if dim == Sequence(()) else formula_text(dim)


def _sum(left: Form, right: Form) -> Form:
    match left, right:
        case Sum(one), Sum(other):
            return Sum(one + other)
        case Product(one), Product(other) if one == other:
            return left
    return None


def _times(form: Form, factor: Fraction) -> Form:
    return Sum(form.count * factor) if isinstance(form, Sum) else form


def _product(op: str, left: Expr, right: Expr, one: Form, other: Form) -> Form:
    sign = 1 if op == "*" else -1
    match one, other:
        case (Sum(a), Sum(b)) if not a and not b:
            return FREE
        case (Product(a), Product(b)):
            return _exponent(a + sign * b)
        case (Product(), Sum(b)) if not b:
            return one
        case (Sum(a), Product(b)) if not a:
            return _exponent(sign * b)
    for form, factor in ((one, right), (other, left)):
        match form, factor:
            case Sum(), Const(int() | float() as number) if number and (op == "*" or form is one):
                scale = Fraction(number) if op == "*" else 1 / Fraction(number)
                return _times(form, scale)
    return None


def _exponent(count: Fraction) -> Form:
    return Product(count) if count else FREE

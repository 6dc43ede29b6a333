"""Folds decisions about constants, so that an inlined definition keeps only the branch it takes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .nodes import (
    Attribute,
    Binary,
    Call,
    Compare,
    Conditional,
    Const,
    Expr,
    Logic,
    Node,
    Sequence,
    Slice,
    Star,
    Subscript,
    Unary,
    whole_number,
)
from .walk import with_parts

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda item, items: item in items,
    "not in": lambda item, items: item not in items,
}


def simplify(expr: Expr) -> Expr:
    """`expr` with all decided and computed that constants alone tell, and no minus of a minus."""
    match expr:
        case Unary("-", Unary("-", operand)):
            return simplify(operand)
        case Call("conj", (Const() as number,)):
            return number  # literals are real
        case Conditional(test, then, otherwise):
            decided = truth(test)
            if decided is not None:
                return simplify(then if decided else otherwise)
    return _folded(with_parts(expr, _simplify_part))


def _folded(expr: Expr) -> Expr:
    """Items of displays, repeated displays, and differences of whole numbers."""
    match expr:
        case Subscript(Sequence(items), index) if not any(isinstance(i, Star) for i in items):
            place = whole_number(index)
            if place is not None and -len(items) <= place < len(items):
                return items[place]
        case Binary("*", Sequence(items), Const(int(count))):
            return Sequence(items * count)
        case Binary("-", left, right):
            one, other = whole_number(left), whole_number(right)
            if one is not None and other is not None and one >= other:
                return Const(one - other)
    return expr


def _simplify_part(part: Any) -> Any:
    if isinstance(part, Slice | tuple):
        return with_parts(part, _simplify_part)
    return simplify(part) if isinstance(part, Node) else part  # type: ignore[arg-type]


def _is_present(expr: Expr) -> bool:
    """Return whether an expression is never None, as a display, a call or a size."""
    match expr:
        case Subscript(Attribute(_, "shape")) | Attribute(_, "shape" | "ndim" | "dtype"):
            return True
    return isinstance(expr, Const | Sequence | Call | Binary)


def truth(test: Expr) -> bool | None:
    """Return whether a test holds, if constants alone decide it."""
    match test:
        case Const(value):
            return bool(value)
        case Unary("not", operand):
            inner = truth(operand)
            return None if inner is None else not inner
        case Compare(op, left, right):
            if isinstance(left, Const) and isinstance(right, Const):
                if left.value is None and op not in ("is", "is not", "==", "!="):
                    return None
                return _COMPARE[op](left.value, right.value)
            if op in ("is", "is not") and isinstance(right, Const) and right.value is None:
                return op == "is not" if _is_present(left) else None
            return None
        case Logic(op, operands):
            decided = [truth(operand) for operand in operands]
            absorbing = op == "or"
            if absorbing in decided:
                return absorbing
            return None if None in decided else not absorbing
        case _:
            return None

"""Branches of `where` that are computed where they are not taken, kept where they have a slope.

`where(x > 1, sqrt(x - 1), 0)` takes the root of negative numbers and leaves it out. Its derivatives
multiply what was left out by zero, and zero times nan is nan. Where a formula is differentiated the
branch is therefore that of `where(x > 1, x, 2)`: it has a slope everywhere, and the same one where
it is taken. That goes for definitions from which rules are derived, for rules on tensors, and for
composites.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import product
from typing import Any

from ..ir.nodes import Binary, Call, Const, Expr, Name, Node
from ..ir.walk import children, names, substitute, walk, with_parts
from ..spec.model import Table

_PARTIAL = {
    *("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "logit", "xlogy"),
    *("acos", "asin", "acosh", "atanh", "arccos", "arcsin", "arccosh", "arctanh", "tan"),
    *("erfinv", "lgamma", "digamma", "gammaln", "psi", "ndtri", "entr", "polygamma", "xlog1py"),
    *("pow", "power", "float_power", "div", "divide", "true_divide"),
    *("exp", "exp2", "expm1", "sinh", "cosh"),
}
"""Functions without a value, or without a slope, for some numbers, or too large for floats."""

_NUMBERS = (2, 0.5, -2)
"""Numbers to compute a branch with where it is not taken."""


def with_slopes(node: Any, tensors: Set[str], table: Table) -> Any:
    """A formula in which each branch of a `where` has a slope for all numbers."""
    node = with_parts(node, lambda part: with_slopes(part, tensors, table))
    match node:
        case Call("where", (_, _, Name("nan")) | (_, Name("nan"), _)):
            return node  # which has no slope anyway
        case Call("where", (test, then, otherwise)):
            then = _moved(then, tensors, table, lambda x, c: Call("where", (test, x, c)))
            otherwise = _moved(otherwise, tensors, table, lambda x, c: Call("where", (test, c, x)))
            return Call("where", (test, then, otherwise), span=node.span)
    return node


def _moved(branch: Expr, tensors: Set[str], table: Table, chosen: Any) -> Expr:
    """A branch of arguments that are replaced where it is not taken, if it needs that."""
    read = [n for n in dict.fromkeys(name.id for name in names(branch)) if n in tensors]
    if not read or not any(_is_partial(node, tensors) for node in walk(branch)):
        return branch
    numbers = _numbers(branch, read, table)
    if numbers is None:
        return branch
    values = {name: chosen(Name(name), Const(number)) for name, number in numbers.items()}
    return substitute(branch, values)


def _is_partial(node: Any, tensors: Set[str]) -> bool:
    """Return whether a part of a branch may have no value or no slope for some of the tensors."""
    match node:
        case Call(function, args) if function.rpartition(".")[2] in _PARTIAL:
            return any(_reads(operand, tensors) for operand in args)
        case Binary("/", _, divisor):
            return _reads(divisor, tensors)
        case Binary("**", base, exponent):
            is_whole = isinstance(exponent, Const) and exponent.value in range(100)
            return not is_whole and _reads(base, tensors)
    return False


def _reads(operand: Node, tensors: Set[str]) -> bool:
    """Return whether tensors are read as they are: those in another `where` are chosen already."""
    match operand:
        case Name(name):
            return name in tensors
        case Call("where"):
            return False
    return any(_reads(part, tensors) for part in children(operand))


def _numbers(branch: Expr, read: list[str], table: Table) -> Mapping[str, float] | None:
    """Numbers at which a branch has a value and slopes; None if none are found."""
    import sympy  # only when a branch needs a number

    from .to_sympy import NotSymbolic, SympyReader

    symbols = {name.id: sympy.Symbol(name.id, real=True) for name in names(branch)}
    others = {s: sympy.Rational(3, 4) for name, s in symbols.items() if name not in read}
    try:
        value = SympyReader(table).expr(branch, symbols).subs(others)
        parts = [value, *(value.diff(symbols[name]) for name in read)]
        for numbers in product(_NUMBERS, repeat=len(read)):
            at = {symbols[n]: sympy.nsimplify(v) for n, v in zip(read, numbers, strict=True)}
            if all(_is_number(part.subs(at)) for part in parts):
                return dict(zip(read, numbers, strict=True))
    except (NotSymbolic, AttributeError, TypeError, ValueError):
        pass
    return None


def _is_number(value: Any) -> bool:
    return bool(value.is_real and value.is_finite)

"""Find with sympy where an expression is defined, and where its pieces meet.

What it cannot tell becomes a remark for the author; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import sympy
from sympy import Expr, Interval, S

from ..prove.deadline import TimeUp, time_limit

SECONDS = 3.0
"""The time sympy has to solve one condition."""


@dataclass
class Domain:
    """A condition for each argument, in the words of a spec, and what could not be put so."""

    conditions: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def domain_of(forward: Expr, arguments: Sequence[sympy.Symbol]) -> Domain:
    """Find where every function in `forward` has a real value and a derivative."""
    found = Domain()
    regions: dict[sympy.Symbol, sympy.Set] = {}
    for condition in dict.fromkeys(_conditions(forward)):
        region = _solved(condition)
        if region == S.Reals:
            continue
        symbols = condition.free_symbols & set(arguments)
        if region is None or len(condition.free_symbols) != 1 or not symbols:
            found.remarks.append(f"it is defined where {condition}")
            continue
        (symbol,) = symbols
        regions[symbol] = regions.get(symbol, S.Reals).intersect(region)
    for symbol, region in regions.items():
        text = _region_text(symbol.name, region)
        if text is None:
            found.remarks.append(f"it is defined where {symbol.name} is in {region}")
        else:
            found.conditions[symbol.name] = text
    return found


def breakpoints(forward: Expr) -> list[Expr]:
    """The expressions at whose zeros one piece of `forward` meets another."""
    found: dict[Expr, None] = {}
    for part in sympy.preorder_traversal(forward):
        if isinstance(part, sympy.Abs | sympy.sign):
            found[part.args[0]] = None
        elif isinstance(part, sympy.core.relational.Relational):
            found[part.lhs - part.rhs] = None
    return [expr for expr in found if not expr.is_number and not expr.is_nonzero]


def zeros(expr: Expr, symbol: sympy.Symbol) -> list[Expr] | None:
    """The real zeros, if they are finitely many numbers."""
    try:
        with time_limit(SECONDS):
            roots = sympy.solveset(expr, symbol, S.Reals)
    except (TimeUp, NotImplementedError, ValueError):
        return None
    if isinstance(roots, sympy.FiniteSet) and all(root.is_number for root in roots):
        return sorted(roots, key=float)
    return None


def _conditions(forward: Expr) -> Iterator[sympy.Basic]:
    """Yield the condition of each part, unless sympy sees that it always holds."""
    for part in sympy.preorder_traversal(forward):
        if isinstance(part, sympy.log | sympy.loggamma):
            yield from _positive(part.args[0])
        elif isinstance(part, sympy.polygamma):
            yield from _positive(part.args[1])
        elif isinstance(part, sympy.asin | sympy.acos | sympy.atanh):
            yield from _positive(1 - part.args[0] ** 2)
        elif isinstance(part, sympy.acosh):
            yield from _positive(part.args[0] - 1)
        elif isinstance(part, sympy.Pow) and not part.exp.is_integer:
            yield from _positive(part.base)
        elif isinstance(part, sympy.Pow) and part.exp.is_negative and not part.base.is_nonzero:
            yield sympy.Ne(part.base, 0)


def _positive(expr: Expr) -> Iterator[sympy.Basic]:
    if not expr.is_positive:
        yield expr > 0


def _solved(condition: sympy.Basic) -> sympy.Set | None:
    """The real numbers at which a condition on one symbol holds; None if that is not known."""
    if condition == sympy.true:
        return S.Reals
    if len(condition.free_symbols) != 1:
        return None
    try:
        with time_limit(SECONDS):
            return condition.as_set()
    except (TimeUp, NotImplementedError, ValueError, TypeError):
        return None


def _region_text(name: str, region: sympy.Set) -> str | None:
    """A region as a spec's `domain` says it."""
    if isinstance(region, sympy.Union):
        hole = S.Reals - region
        if isinstance(hole, sympy.FiniteSet) and len(hole) == 1:
            (number,) = hole
            return "nonzero" if number == 0 else _if_number(f"{name} != {{}}", number)
        return None
    if not isinstance(region, Interval):
        return None
    low, high = region.start, region.end
    if (low, high) == (0, S.Infinity):
        return "positive"
    if (low, high) == (-S.Infinity, 0):
        return "negative"
    if high is S.Infinity:
        return _if_number(f"{name} > {{}}", low)
    if low is -S.Infinity:
        return _if_number(f"{name} < {{}}", high)
    return _if_number(f"{{}} < {name} < {{}}", low, high)


def _if_number(pattern: str, *numbers: Expr) -> str | None:
    """The numbers in their places, if all of them can be written as short decimals."""
    texts = [decimal(number) for number in numbers]
    return None if None in texts else pattern.format(*texts)


def decimal(number: Expr) -> str | None:
    """A rational number as an integer or a short decimal that is exactly it."""
    if not number.is_Rational:
        return None
    text = repr(float(number)) if number.q != 1 else str(number.p)
    return text if sympy.Rational(text) == number else None

"""First and second derivatives of a run's outputs as numbers, without writing them as expressions.

A walk up through the parts of the outputs finds their derivatives along the tangents, and a walk
down from the outputs those by every symbol: forward and reverse accumulation, in any field. Only
the derivative of a function by its argument is an expression, sympy's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import sympy
from sympy import Expr
from sympy.core.function import ArgumentIndexError

from ..zero.residues import NoResidue
from .fields import Field

Dual: TypeAlias = tuple[Any, Any]
"""A value, and its derivative along the tangents."""


class Slopes:
    """Derivatives at one point of a field, in one direction."""

    def __init__(self, field: Field, directions: Mapping[sympy.Symbol, Expr]) -> None:
        self._field = field
        self._directions = directions
        self._along: dict[Expr, Any] = {}

    def along(self, expr: Expr) -> Any:
        """The derivative of an expression along the tangents. Raises NoResidue for want of one."""
        found = self._along.get(expr)
        if found is None:
            if expr.args:
                parts = self._partials(expr) if expr.free_symbols else ()
                found = self._field.reduce(sum(by * self.along(part) for part, by in parts))
            else:
                tangent = self._directions.get(expr)
                found = 0 if tangent is None else self._field.value(tangent)
            self._along[expr] = found
        return found

    def down_from(self, weighted: Sequence[tuple[Expr, int]]) -> dict[Expr, Dual]:
        """The derivatives of a weighted sum by all parts of its terms, each along the tangents."""
        found: dict[Expr, Dual] = {}
        for expr, weight in weighted:
            self._add(found, expr, (weight, 0))
        for expr in _from_the_top([expr for expr, _ in weighted]):
            slope, bend = found[expr]
            for part, (partial, partial_along) in self._duals(expr):
                change = slope * partial, bend * partial + slope * partial_along
                self._add(found, part, change)
        return found

    def _add(self, found: dict[Expr, Dual], expr: Expr, change: Dual) -> None:
        before = found.get(expr, (0, 0))
        reduce = self._field.reduce
        found[expr] = reduce(before[0] + change[0]), reduce(before[1] + change[1])

    def _partials(self, expr: Expr) -> Iterable[tuple[Expr, Any]]:
        """Each argument that is no constant, with the derivative by it."""
        if expr.is_Add:
            return [(part, 1) for part in expr.args]
        if expr.is_Mul:
            return [(part, others) for part, (others, _) in self._factors(expr.args, 0)]
        if expr.is_Pow and expr.exp.is_Integer:
            return [(expr.base, self._falling_power(expr, 1))]
        return [(part, self._field.value(by)) for part, by in _derivatives(expr)]

    def _duals(self, expr: Expr) -> Iterable[tuple[Expr, Dual]]:
        """The same, each derivative with its own along the tangents."""
        if expr.is_Add:
            return [(part, (1, 0)) for part in expr.args]
        if expr.is_Mul:
            return self._factors(expr.args, 1)
        if expr.is_Pow and expr.exp.is_Integer:
            bend = self._falling_power(expr, 2) * self.along(expr.base)
            return [(expr.base, (self._falling_power(expr, 1), bend))]
        return [(part, (self._field.value(by), self.along(by))) for part, by in _derivatives(expr)]

    def _factors(self, factors: Sequence[Expr], order: int) -> Iterable[tuple[Expr, Dual]]:
        """Each factor of a product with the product of the others; of order 0 by itself."""
        duals = [(self._field.value(part), self.along(part) if order else 0) for part in factors]
        reduce = self._field.reduce
        for number, part in enumerate(factors):
            if part.free_symbols:
                value, along = 1, 0
                for other in (*duals[:number], *duals[number + 1 :]):
                    along = reduce(along * other[0] + value * other[1])
                    value = reduce(value * other[0])
                yield part, (value, along)

    def _falling_power(self, expr: Expr, times: int) -> Any:
        """The derivative of an integer power by its base, once or twice."""
        exponent = int(expr.exp)
        factor = exponent if times == 1 else exponent * (exponent - 1)
        if factor == 0:
            return 0
        base = self._field.value(expr.base)
        return self._field.reduce(factor * self._field.power(base, exponent - times))


def _derivatives(expr: Expr) -> Iterable[tuple[Expr, Expr]]:
    """Each argument of a function that is no constant, with sympy's derivative by it."""
    if expr.is_Pow:
        by = (expr.exp * expr.base ** (expr.exp - 1), expr * sympy.log(expr.base))
        return [pair for pair in zip(expr.args, by, strict=True) if pair[0].free_symbols]
    try:
        return [
            (part, expr.fdiff(number))
            for number, part in enumerate(expr.args, 1)
            if part.free_symbols
        ]
    except (ArgumentIndexError, AttributeError):
        raise NoResidue from None


def _from_the_top(roots: Sequence[Expr]) -> list[Expr]:
    """The parts of expressions, each before its arguments; without constants."""
    order: list[Expr] = []
    entered: set[Expr] = set()
    stack = [(root, False) for root in roots]
    while stack:
        expr, is_done = stack.pop()
        if is_done:
            order.append(expr)
        elif expr not in entered and expr.free_symbols:
            entered.add(expr)
            stack.append((expr, True))
            stack += [(part, False) for part in expr.args]
    return order[::-1]

"""sympy's derivatives of expressions that share their parts."""

from __future__ import annotations

import sympy
from sympy import Expr, S


class Derivatives:
    """Derivatives, each computed once: expressions share most of their parts."""

    def __init__(self) -> None:
        self._known: dict[tuple[Expr, sympy.Symbol], Expr] = {}
        self._symbols: dict[Expr, set[sympy.Symbol]] = {}

    def by(self, expr: Expr, symbol: sympy.Symbol) -> Expr:
        """The derivative of an expression."""
        if expr.is_Number:
            return S.Zero
        found = self._known.get((expr, symbol))
        if found is None:
            found = self._derive(expr, symbol) if symbol in self.symbols(expr) else S.Zero
            self._known[expr, symbol] = found
        return found

    def symbols(self, expr: Expr) -> set[sympy.Symbol]:
        """The symbols that an expression depends on."""
        found = self._symbols.get(expr)
        if found is None:
            found = self._symbols[expr] = expr.free_symbols
        return found

    def _derive(self, expr: Expr, symbol: sympy.Symbol) -> Expr:
        """Sums, products and powers by their parts, which come up again; sympy does the rest."""
        if expr.is_Add:
            return sympy.Add(*(self.by(term, symbol) for term in expr.args))
        if expr.is_Mul:
            factors = expr.args
            return sympy.Add(
                *(
                    sympy.Mul(*factors[:n], self.by(factor, symbol), *factors[n + 1 :])
                    for n, factor in enumerate(factors)
                    if symbol in self.symbols(factor)
                )
            )
        if expr.is_Pow and expr.exp.is_Number:
            return expr.exp * expr.base ** (expr.exp - 1) * self.by(expr.base, symbol)
        return expr.diff(symbol)

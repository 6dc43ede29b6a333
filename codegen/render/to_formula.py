"""From sympy back to the formula language: text that an author could have written."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sympy
from sympy import Add, Expr, Integer, Mul, Pow, Rational, S
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from ..ir.parse import parse
from .to_text import formula_text

OPS_OF_SYMPY: dict[Any, str] = {
    sympy.exp: "exp",
    sympy.log: "log",
    sympy.sin: "sin",
    sympy.cos: "cos",
    sympy.tan: "tan",
    sympy.asin: "asin",
    sympy.acos: "acos",
    sympy.atan: "atan",
    sympy.atan2: "atan2",
    sympy.sinh: "sinh",
    sympy.cosh: "cosh",
    sympy.tanh: "tanh",
    sympy.asinh: "asinh",
    sympy.acosh: "acosh",
    sympy.atanh: "atanh",
    sympy.Abs: "abs",
    sympy.sign: "sign",
    sympy.erf: "erf",
    sympy.erfc: "erfc",
    sympy.loggamma: "lgamma",
}

_Sigmoid = sympy.Function("sigmoid")
_Expm1 = sympy.Function("expm1")
_Log1p = sympy.Function("log1p")


LARGEST = 2**53
"""Floats are exact up to this integer; a product of decimals may be a quotient of larger ones."""


class NoFormula(Exception):
    """An expression that the ops of the table cannot say."""


def to_formula(expr: Expr, ops: Collection[str]) -> str:
    """The text of `expr`, calling only the `ops` of the table. Raises NoFormula."""
    expr = _stable(expr, ops).replace(lambda e: e.is_Mul, _without_minus)
    expr = expr.replace(_is_decimal, _to_decimal)
    if expr.has(S.ComplexInfinity, S.Infinity, S.NegativeInfinity, S.NaN):
        raise NoFormula("it is infinite, or no number")
    if any(max(abs(number.p), number.q) > LARGEST for number in expr.atoms(Rational)):
        raise NoFormula("a number in it has more digits than floats")
    text = _Printer(ops).doprint(expr)
    tree = parse(text).expression
    assert tree is not None
    return formula_text(tree)


def _stable(expr: Expr, ops: Collection[str]) -> Expr:
    """With the functions that keep their digits where the plain form loses them."""
    if "sigmoid" in ops:
        expr = expr.replace(_is_sigmoid, _to_sigmoid).replace(lambda e: e.is_Mul, _mirrored)
    if "log1p" in ops:
        expr = expr.replace(
            lambda e: isinstance(e, sympy.log) and e.args[0].is_Add and 1 in e.args[0].args,
            lambda e: _Log1p(e.args[0] - 1),
        )
    if "expm1" in ops:
        expr = expr.replace(_is_expm1, _to_expm1)
    return expr


def _is_sigmoid(expr: Expr) -> bool:
    """`1 / (1 + exp(u))`, alone or as a factor."""
    return bool(expr.is_Pow and expr.exp.is_Integer and expr.exp < 0 and _one_plus_exp(expr.base))


def _one_plus_exp(expr: Expr) -> bool:
    rest = expr - 1
    return bool(expr.is_Add and len(expr.args) == 2 and isinstance(rest, sympy.exp))


def _to_sigmoid(expr: Expr) -> Expr:
    return _Sigmoid(-(expr.base - 1).args[0]) ** -expr.exp


def _mirrored(product: Expr) -> Expr:
    """`sigmoid(-u) * exp(u)` is `sigmoid(u)`, and does not overflow."""
    for factor in product.args:
        base, exponent = factor.as_base_exp()
        if isinstance(base, _Sigmoid) and exponent.is_Integer and exponent > 0:
            growth = sympy.exp(-base.args[0])
            if growth in product.args:
                return product / (growth * base) * _Sigmoid(-base.args[0])
    return product


def _without_minus(product: Expr) -> Expr:
    """`-x * (y - 1)` as `x * (1 - y)`."""
    if product.is_Mul and product.args[0] is S.NegativeOne:
        for place, factor in enumerate(product.args):
            if factor.is_Add and -1 in factor.args:
                others = (*product.args[1:place], *product.args[place + 1 :])
                return Mul(*others, -factor)
    return product


def _is_decimal(expr: Expr) -> bool:
    """A number that is shorter with a decimal point: 1.702 and not 851/500."""
    if not expr.is_Rational or is_small_number(expr) or expr.is_Integer:
        return False
    text = repr(float(expr))
    return len(text) < len(str(expr)) + 2 and "e" not in text and Rational(text) == expr


def _to_decimal(expr: Expr) -> Expr:
    number = sympy.Symbol(repr(abs(float(expr))), positive=True)
    return number if expr > 0 else -number


def _is_expm1(expr: Expr) -> bool:
    return bool(expr.is_Add and -1 in expr.args and isinstance(expr + 1, sympy.exp))


def _to_expm1(expr: Expr) -> Expr:
    return _Expm1((expr + 1).args[0])


class _Printer(StrPrinter):  # type: ignore[misc, unused-ignore]
    """sympy's own text, with ops of the table for its functions."""

    def __init__(self, ops: Collection[str]) -> None:
        super().__init__()
        self._ops = ops

    def _call(self, op: str, *args: Any) -> str:
        if op not in self._ops:
            raise NoFormula(f"the table has no op `{op}`")
        return f"{op}({', '.join(map(self._print, args))})"

    def _as_ordered_terms(self, expr: Expr, order: str | None = None) -> list[Expr]:
        """The terms in sympy's order, but `x - y` for `-y + x`."""
        terms = list(super()._as_ordered_terms(expr, order=order))
        signs = [bool(term.as_coeff_Mul()[0].is_negative) for term in terms]
        if signs[0] and not all(signs):
            terms.insert(0, terms.pop(signs.index(False)))
        return terms

    def _print_Function(self, expr: Expr) -> str:
        if expr.func is sympy.polygamma:
            order, argument = expr.args
            if order == 0:
                return self._call("digamma", argument)
            return self._call("polygamma", order, argument)
        op = OPS_OF_SYMPY.get(expr.func) or expr.func.__name__
        if op not in self._ops:
            raise NoFormula(f"the table has no op `{op}`")
        return self._call(op, *expr.args)

    def _print_ExpBase(self, expr: Expr) -> str:
        return self._call("exp", *expr.args)

    _print_Abs = _print_sign = _print_Function

    def _print_Exp1(self, expr: Expr) -> str:
        return self._call("exp", S.One)

    def _print_Pow(self, expr: Expr, rational: bool = False) -> str:
        base, exponent = expr.args
        if exponent == Rational(1, 2):
            return self._call("sqrt", base)
        if exponent == Rational(-1, 2) and "rsqrt" in self._ops:
            return self._call("rsqrt", base)
        if exponent.is_Rational and exponent.q == 2 and exponent < 0:
            return f"1/{self.parenthesize(Pow(base, -exponent), PRECEDENCE['Pow'])}"
        return str(super()._print_Pow(expr, rational=rational))

    def _print_Piecewise(self, expr: Expr) -> str:
        (value, condition), *rest = expr.args
        if condition == sympy.true or not rest:
            return str(self._print(value))
        return self._call("where", condition, value, sympy.Piecewise(*rest, evaluate=False))

    def _print_Relational(self, expr: Any) -> str:
        left, right = (self.parenthesize(side, PRECEDENCE["Relational"]) for side in expr.args)
        return f"{left} {expr.rel_op} {right}"

    def _logic(self, sign: str, expr: Any) -> str:
        return f" {sign} ".join(f"({self._print(arg)})" for arg in expr.args)

    def _print_And(self, expr: Any) -> str:
        return self._logic("&", expr)

    def _print_Or(self, expr: Any) -> str:
        return self._logic("|", expr)

    def _print_Not(self, expr: Any) -> str:
        return f"~({self._print(expr.args[0])})"


def times_grad(derivative: Expr, grad: sympy.Symbol) -> Expr:
    """The derivative times the gradient, in every piece of a piecewise one."""
    if isinstance(derivative, sympy.Piecewise):
        pieces = [(times_grad(value, grad), condition) for value, condition in derivative.args]
        return sympy.Piecewise(*pieces, evaluate=False)
    return grad * derivative


def cost(expr: Expr) -> int:
    """Estimate the length of a formula; a function counts as several sums."""
    parts = list(sympy.preorder_traversal(expr))
    functions = sum(8 for part in parts if isinstance(part, sympy.Function) or _is_root(part))
    return len(parts) + functions + sum(1 for part in parts if isinstance(part, Add | Mul | Pow))


def _is_root(expr: Expr) -> bool:
    return bool(expr.is_Pow and not expr.exp.is_Integer)


def is_small_number(number: Expr) -> bool:
    """A coefficient that a person would write."""
    return bool(number.is_Rational and abs(number.p) <= 12 and number.q <= Integer(12))

"""The sympy reading: a definition as one exact expression, the ops it calls written out.

Unlike the exact models of a proof, which decide every comparison, this keeps the pieces: `abs`
stays `Abs`, `where` becomes `Piecewise`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy
from sympy.core.relational import Relational
from sympy.logic.boolalg import BooleanAtom, BooleanFunction

from ..ir import nodes as ir
from ..spec.model import OpSpec, Table


class NotSymbolic(Exception):
    """A definition that is no single expression of numbers."""


_CONSTANTS = {"pi": sympy.pi, "inf": sympy.oo, "nan": sympy.nan}

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "&": sympy.And,
    "|": sympy.Or,
}

_OF_TRUTHS = ("&", "|")

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": sympy.Lt,
    "<=": sympy.Le,
    ">": sympy.Gt,
    ">=": sympy.Ge,
    "==": sympy.Eq,
    "!=": sympy.Ne,
}


def _number(value: Any) -> Any:
    """Read a comparison as one or zero; other values are numbers."""
    is_truth = isinstance(value, Relational | BooleanFunction | BooleanAtom)
    return sympy.Piecewise((1, value), (0, True)) if is_truth else value


def _where(condition: Any, then: Any, otherwise: Any) -> Any:
    return sympy.Piecewise((then, condition), (otherwise, True))


_SAME_IN_SYMPY = "exp log sin cos tan sinh cosh tanh sqrt sign"

PRIMITIVES: dict[str, Callable[..., Any]] = {
    f"np.{name}": getattr(sympy, name) for name in _SAME_IN_SYMPY.split()
} | {
    "np.abs": sympy.Abs,
    "np.absolute": sympy.Abs,
    "np.negative": lambda x: -x,
    "np.square": lambda x: x**2,
    "np.reciprocal": lambda x: 1 / x,
    "np.exp2": lambda x: 2**x,
    "np.expm1": lambda x: sympy.exp(x) - 1,
    "np.log1p": lambda x: sympy.log(1 + x),
    "np.log2": lambda x: sympy.log(x) / sympy.log(2),
    "np.log10": lambda x: sympy.log(x) / sympy.log(10),
    "np.logaddexp": lambda a, b: sympy.log(sympy.exp(a) + sympy.exp(b)),
    "np.arcsin": sympy.asin,
    "np.arccos": sympy.acos,
    "np.arctan": sympy.atan,
    "np.arctan2": sympy.atan2,
    "np.arcsinh": sympy.asinh,
    "np.arccosh": sympy.acosh,
    "np.arctanh": sympy.atanh,
    "np.hypot": lambda a, b: sympy.sqrt(a**2 + b**2),
    "np.maximum": lambda a, b: _where(a >= b, a, b),
    "np.minimum": lambda a, b: _where(a <= b, a, b),
    "np.where": _where,
    "kernels.sign": sympy.sign,
    "kernels.where": _where,
    "kernels.logaddexp": lambda a, b: sympy.log(sympy.exp(a) + sympy.exp(b)),
    "kernels.times_log": lambda a, b: a * sympy.log(b),
    "kernels.pow": lambda a, b: a**b,
    "kernels.pow_scalar": lambda a, b: a**b,
    "kernels.pow_of_scalar": lambda a, b: a**b,
    "sp.erf": sympy.erf,
    "sp.erfc": lambda x: 1 - sympy.erf(x),
    "sp.expit": lambda x: 1 / (1 + sympy.exp(-x)),
    "sp.logit": lambda x: sympy.log(x / (1 - x)),
    "sp.xlogy": lambda x, y: x * sympy.log(y),
    "sp.gammaln": sympy.loggamma,
    "kernels.lgamma": sympy.loggamma,
    "kernels.bessel": lambda a, n: sympy.besseli(n, a),
    "sp.digamma": lambda x: sympy.polygamma(0, x),
    "sp.psi": lambda x: sympy.polygamma(0, x),
}

_MAX_DEPTH = 20

NOTHING = object()
"""The value of an optional argument that is left out."""


class SympyReader:
    """Reads formulas; `table` holds the ops that they may call, `functions` those sympy knows."""

    def __init__(
        self, table: Table, functions: Mapping[str, Callable[..., Any]] | None = None
    ) -> None:
        self._table = table
        self._functions = functions or {}
        self._depth = 0

    def block(self, block: ir.Block, names: Mapping[str, Any]) -> Any:
        """The value of a block whose conditions the values of its names decide."""
        found = self._statements(block.statements, dict(names))
        if found is None:
            raise NotSymbolic("it does not return")
        return found

    def _statements(self, statements: tuple[ir.Stmt, ...], known: dict[str, Any]) -> Any:
        """Translate statements; return their value, or None if they return none."""
        for statement in statements:
            match statement:
                case ir.Assign(targets=(name,), value=value):
                    known[name] = self.expr(value, known)
                case ir.Return(value=value):
                    return self.expr(value, known)
                case ir.If(test=test, then=then, otherwise=otherwise):
                    chosen = then if self._decided(test, known) else otherwise
                    found = self._statements(chosen, known)
                    if found is not None:
                        return found
                case _:
                    raise NotSymbolic("it takes values apart")
        return None

    def expr(self, node: ir.Expr, names: Mapping[str, Any]) -> Any:
        """The value of an expression. Raises NotSymbolic for what has none."""
        match node:
            case ir.Const(value=None):
                return NOTHING
            case ir.Compare(op="is" | "is not" as op, left=left, right=ir.Const(value=None)):
                is_absent = self.expr(left, names) is NOTHING
                return sympy.true if is_absent == (op == "is") else sympy.false
            case ir.Const(value=bool() as truth):
                return sympy.true if truth else sympy.false
            case ir.Const(value=int() | float() as number):
                return sympy.Rational(repr(number))  # the decimal, as the author wrote it
            case ir.Name(id=name):
                return self._name(name, names)
            case ir.Unary(op="-", operand=operand):
                return -self.expr(operand, names)
            case ir.Unary(op="~", operand=operand):
                return sympy.Not(self.expr(operand, names))
            case ir.Binary(op=op, left=left, right=right) if op in _BINARY:
                sides = (self.expr(left, names), self.expr(right, names))
                return _BINARY[op](*(sides if op in _OF_TRUTHS else map(_number, sides)))
            case ir.Compare(op=op, left=left, right=right) if op in _COMPARE:
                return _COMPARE[op](self.expr(left, names), self.expr(right, names))
            case ir.Conditional(test=test, then=then, otherwise=otherwise):
                return self._conditional(test, then, otherwise, names)
            case ir.Call():
                return self._call(node, names)
        raise NotSymbolic(f"it contains a {type(node).__name__.lower()}")

    def _name(self, name: str, names: Mapping[str, Any]) -> Any:
        value = names.get(name, _CONSTANTS.get(name))
        if value is None:
            raise NotSymbolic(f"`{name}` is no number")
        return value

    def _conditional(
        self, test: ir.Expr, then: ir.Expr, otherwise: ir.Expr, names: Mapping[str, Any]
    ) -> Any:
        return self.expr(then if self._decided(test, names) else otherwise, names)

    def _decided(self, test: ir.Expr, names: Mapping[str, Any]) -> bool:
        decided = self.expr(test, names)
        if decided not in (sympy.true, sympy.false):
            raise NotSymbolic("which of its branches is taken depends on an argument")
        return bool(decided == sympy.true)

    def _call(self, node: ir.Call, names: Mapping[str, Any]) -> Any:
        args = [self.expr(arg, names) for arg in node.args]
        kwargs = {name: self.expr(value, names) for name, value in node.kwargs}
        if node.function in self._functions and not kwargs:
            return self._functions[node.function](*args)
        if "." in node.function:
            primitive = PRIMITIVES.get(node.function)
            if primitive is None or kwargs:
                raise NotSymbolic(f"`{node.function}` is not known to sympy")
            return primitive(*args)
        for op in self._table.overloads(node.function):
            bound = _bind(op, args, kwargs)
            definition = op.definition
            if bound is not None and definition is not None and self._depth < _MAX_DEPTH:
                self._depth += 1
                try:
                    return self.block(definition.block, bound)
                finally:
                    self._depth -= 1
        raise NotSymbolic(f"`{node.function}` cannot be written out")


def _bind(op: OpSpec, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments of a call by name; None if this overload does not take them."""
    params = op.signature.params
    if len(args) > len(params) or not kwargs.keys() <= {p.name for p in params}:
        return None
    bound = dict(zip((p.name for p in params), args, strict=False)) | kwargs
    for param in params:
        if param.name not in bound:
            if param.default is None:
                bound[param.name] = NOTHING
            elif isinstance(param.default, int | float):
                bound[param.name] = sympy.sympify(param.default)
            else:
                return None
    return bound

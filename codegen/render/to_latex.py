"""The LaTeX reading: formulas as mathematics, for `gradspec explain` and the documentation.

`self` is written x, `result` y and `grad` g, unless an argument is called so; a tangent has a dot,
a primal is the value itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from ..ir import nodes as ir
from .base import (
    ADD,
    AND,
    ATOM,
    BINARY_PRECEDENCE,
    COMPARE,
    MULTIPLY,
    NOT,
    OR,
    POWER,
    UNARY,
    PythonRenderer,
)

_LETTERS = {"self": "x", "result": "y", "grad": "g", "pi": r"\pi", "inf": r"\infty"}

_SIGNS = {
    "%": r"\bmod",
    "&": r"\wedge",
    "|": r"\vee",
    "^": r"\oplus",
    "<=": r"\le",
    ">=": r"\ge",
    "==": "=",
    "!=": r"\ne",
    "is": "=",
    "is not": r"\ne",
    "in": r"\in",
    "not in": r"\notin",
    "and": r"\wedge",
    "or": r"\vee",
}

_SAME_IN_LATEX = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "log", "max", "min", "det")

_NAMED = {
    **{name: rf"\{name}" for name in _SAME_IN_LATEX},
    **{name: rf"\arc{name[1:]}" for name in ("asin", "acos", "atan")},
    "sign": r"\operatorname{sgn}",
    "sigmoid": r"\sigma",
    "lgamma": r"\log\Gamma",
    "digamma": r"\psi",
}

_ENCLOSING: dict[str, tuple[str, int]] = {
    "abs": (r"\left|{}\right|", ATOM),
    "sqrt": (r"\sqrt{{{}}}", ATOM),
    "rsqrt": (r"\frac{{1}}{{\sqrt{{{}}}}}", MULTIPLY),
    "reciprocal": (r"\frac{{1}}{{{}}}", MULTIPLY),
    "exp": ("e^{{{}}}", POWER),
    "conj": (r"\overline{{{}}}", ATOM),
    "floor": (r"\lfloor {} \rfloor", ATOM),
    "ceil": (r"\lceil {} \rceil", ATOM),
}
"""Functions that are written around their only argument."""

_BEHIND: dict[str, str] = {"t": r"^{\top}", "_mh": r"^{\mathsf{H}}", "square": "^{2}"}
"""Functions that are written behind their only argument."""

_BETWEEN = {"eq": "=", "ne": r"\ne", "lt": "<", "le": r"\le", "gt": ">", "ge": r"\ge"}
"""Functions that are written between their two arguments."""

_PRODUCTS = ("mm", "mv", "bmm", "matmul", "dot", "mul")


def latex(block: ir.Block, arguments: Collection[str] = ()) -> str:
    """A formula as LaTeX, to be set in math mode; `arguments` are the names of the op's own."""
    renderer = LatexRenderer(arguments)
    if block.expression is not None:
        return renderer.render(block.expression)
    return _environment("aligned", list(renderer.rows(block.statements)))


class LatexRenderer(PythonRenderer):
    """One expression as LaTeX."""

    def __init__(self, arguments: Collection[str] = ()) -> None:
        self._letters = {n: sign for n, sign in _LETTERS.items() if sign not in arguments}

    def in_parentheses(self, text: str) -> str:
        return rf"\left({text}\right)"

    def render_name(self, node: ir.Name) -> tuple[str, int]:
        return self._name(node.id), ATOM

    def render_const(self, node: ir.Const) -> tuple[str, int]:
        match node.value:
            case bool() | None:
                return rf"\text{{{str(node.value).lower()}}}", ATOM
            case str(text):
                return rf"\text{{{_escaped(text)}}}", ATOM
            case float(number) if "e" in repr(number):
                digits, exponent = repr(number).split("e")
                return rf"{digits} \cdot 10^{{{int(exponent)}}}", MULTIPLY
        return super().render_const(node)

    def render_unary(self, node: ir.Unary) -> tuple[str, int]:
        if node.op == "-":
            return f"-{self.render(node.operand, UNARY)}", UNARY
        return rf"\neg {self.render(node.operand, UNARY)}", NOT

    def render_binary(self, node: ir.Binary) -> tuple[str, int]:
        match node.op:
            case "/":
                top, bottom = self.render(node.left), self.render(node.right)
                return rf"\frac{{{top}}}{{{bottom}}}", MULTIPLY
            case "//":
                top, bottom = self.render(node.left), self.render(node.right)
                return rf"\left\lfloor \frac{{{top}}}{{{bottom}}} \right\rfloor", ATOM
            case "**":
                return f"{self.render(node.left, ATOM)}^{{{self.render(node.right)}}}", POWER
            case "+" | "-":
                right = self.render(node.right, MULTIPLY)
                return f"{self.render(node.left, ADD)} {node.op} {right}", ADD
            case "*" | "@":
                left, right = self.render(node.left, MULTIPLY), self.render(node.right, UNARY)
                sign = r"\cdot" if right[0].isdigit() or right[0] == "-" else r"\,"
                return f"{left} {sign} {right}", MULTIPLY
        own = BINARY_PRECEDENCE[node.op]
        left, right = self.render(node.left, own), self.render(node.right, own + 1)
        return f"{left} {_SIGNS[node.op]} {right}", own

    def render_compare(self, node: ir.Compare) -> tuple[str, int]:
        sign = _SIGNS.get(node.op, node.op)
        return f"{self.render(node.left, ADD)} {sign} {self.render(node.right, ADD)}", COMPARE

    def render_logic(self, node: ir.Logic) -> tuple[str, int]:
        own = OR if node.op == "or" else AND
        return f" {_SIGNS[node.op]} ".join(self.render(x, own + 1) for x in node.operands), own

    def render_attribute(self, node: ir.Attribute) -> tuple[str, int]:
        return rf"\operatorname{{{node.name}}}({self.render(node.value)})", ATOM

    def render_subscript(self, node: ir.Subscript) -> tuple[str, int]:
        return f"{self.render(node.value, ATOM)}_{{{self.render(node.index)}}}", ATOM

    def render_conditional(self, node: ir.Conditional) -> tuple[str, int]:
        return self._cases(node.test, node.then, node.otherwise), ATOM

    def render_call(self, node: ir.Call) -> tuple[str, int]:
        function = node.function.removeprefix("np.").removeprefix("sp.")
        if function == "where" and len(node.args) == 3:
            return self._cases(*node.args), ATOM
        if len(node.args) == 1 and not node.kwargs:
            argument = node.args[0]
            if function in _ENCLOSING:
                pattern, precedence = _ENCLOSING[function]
                return pattern.format(self.render(argument)), precedence
            if function in _BEHIND:
                return self.render(argument, ATOM) + _BEHIND[function], POWER
        if function in _BETWEEN and len(node.args) == 2:
            left, right = (self.render(arg, ADD) for arg in node.args)
            return f"{left} {_BETWEEN[function]} {right}", COMPARE
        if function == "transpose" and [*map(self.render, node.args[1:])] == ["-2", "-1"]:
            return self.render(node.args[0], ATOM) + _BEHIND["t"], POWER
        if function in _PRODUCTS and len(node.args) == 2:
            return r" \, ".join(self.render(arg, UNARY) for arg in node.args), MULTIPLY
        words = [self.render(arg) for arg in node.args]
        words += [rf"\mathit{{{_escaped(name)}}}={self.render(x)}" for name, x in node.kwargs]
        if function == "sum" and node.args:
            return self._sum(node.args), MULTIPLY
        name = _NAMED.get(function, rf"\operatorname{{{_escaped(function)}}}")
        return rf"{name}\left({', '.join(words)}\right)", ATOM

    def rows(self, statements: tuple[ir.Stmt, ...], when: str = "") -> list[str]:
        """The statements of a block, one a row; `when` is the condition they stand under."""
        rows: list[str] = []
        for statement in statements:
            match statement:
                case ir.Assign(targets, value):
                    left = ", ".join(map(self._name, targets))
                    rows.append(f"{left} &= {self.render(value)}{when}")
                case ir.Return(value):
                    rows.append(f"& {self.render(value)}{when}")
                case ir.If(test, then, otherwise):
                    condition = self.render(test)
                    rows += self.rows(then, rf"{when} \quad \text{{if }} {condition}")
                    rows += self.rows(otherwise, rf"{when} \quad \text{{unless }} {condition}")
        return rows

    def _name(self, name: str) -> str:
        """A name as a letter, or as a word in italics."""
        if name in self._letters:
            return self._letters[name]
        stem, _, kind = name.rpartition("_")
        if stem and kind in _ACCENTS:
            return _ACCENTS[kind](self._name(stem))
        if stem == "grad":
            return f"g_{{{self._name(kind)}}}"
        return name if len(name) == 1 else rf"\mathit{{{_escaped(name)}}}"

    def _sum(self, args: tuple[ir.Expr, ...]) -> str:
        along = f"_{{{self.render(args[1])}}}" if len(args) > 1 else ""
        return rf"\sum{along} {self.render(args[0], MULTIPLY)}"

    def _cases(self, test: ir.Expr, then: ir.Expr, otherwise: ir.Expr) -> str:
        rows = [
            rf"{self.render(then)} & \text{{if }} {self.render(test)}",
            rf"{self.render(otherwise)} & \text{{otherwise}}",
        ]
        return _environment("cases", rows)


_ACCENTS: dict[str, Callable[[str], str]] = {"t": r"\dot{{{}}}".format, "p": "{}".format}
"""Notation of the tangent of an argument, and of its primal."""


def _environment(name: str, rows: list[str]) -> str:
    return rf"\begin{{{name}}} " + r" \\ ".join(rows) + rf" \end{{{name}}}"


def _escaped(text: str) -> str:
    return text.replace("_", r"\_")

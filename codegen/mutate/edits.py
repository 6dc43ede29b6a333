"""The mistakes an author makes, as edits of one node of a formula's tree."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ..ir import nodes as ir
from ..ir.walk import walk


@dataclass(frozen=True, slots=True)
class Scope:
    """The op that a formula belongs to, as far as edits have to know it."""

    values: tuple[str, ...]
    """Names that hold numbers: tensors, outputs, scalars."""
    directions: tuple[str, ...]
    """Cotangents or tangents: what the formula is linear in."""
    integers: Collection[str]
    flags: Collection[str]
    optional: Collection[str]
    """Lists that may be None, such as `dim` of `sum`."""
    functions: Collection[str]
    """The ops that a formula may call."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One node and what it becomes; `kind` names the mistake."""

    kind: str
    before: ir.Expr
    after: ir.Expr


_SWAPPED = {
    "+": "-*",
    "-": "+*",
    "*": "/+",
    "/": "*",
    "**": "*",
    "//": "/",
    "%": "/",
    "&": "|",
    "|": "&",
    "^": "&",
}
"""The operator that each is mistaken for."""

_ORDERED = ("-", "/", "//", "%", "**", "@")
"""Operators whose operands must not change places."""

_RELATIONS = {
    "<": ("<=", ">", ">="),
    "<=": ("<", ">", ">="),
    ">": (">=", "<", "<="),
    ">=": (">", "<", "<="),
    "==": ("!=",),
    "!=": ("==",),
    "is": ("is not",),
    "is not": ("is",),
    "in": ("not in",),
    "not in": ("in",),
}
"""Comparisons with another border, in another direction, and negated."""

SIBLINGS: Mapping[str, tuple[str, ...]] = {
    "sin": ("cos",),
    "cos": ("sin",),
    "tan": ("tanh",),
    "sinh": ("cosh",),
    "cosh": ("sinh",),
    "tanh": ("tan", "sigmoid"),
    "exp": ("expm1", "exp2"),
    "expm1": ("exp",),
    "exp2": ("exp",),
    "log": ("log1p", "log2"),
    "log1p": ("log",),
    "log2": ("log",),
    "log10": ("log",),
    "sqrt": ("rsqrt", "square"),
    "rsqrt": ("sqrt", "reciprocal"),
    "reciprocal": ("rsqrt",),
    "abs": ("neg", "sign"),
    "sign": ("abs",),
    "floor": ("ceil",),
    "ceil": ("floor",),
    "trunc": ("floor",),
    "round": ("floor",),
    "maximum": ("minimum",),
    "minimum": ("maximum",),
    "amax": ("amin",),
    "amin": ("amax",),
    "sum": ("mean",),
    "mean": ("sum",),
    "cumsum": ("flip",),
    "erf": ("erfc",),
    "erfc": ("erf",),
    "sigmoid": ("tanh", "log_sigmoid"),
    "log_sigmoid": ("sigmoid",),
    "lgamma": ("digamma",),
    "digamma": ("lgamma",),
    "tril": ("triu",),
    "triu": ("tril",),
    "scatter": ("scatter_add",),
    "scatter_add": ("scatter",),
    "softmax": ("log_softmax",),
    "_unreduce": ("_unmean",),
    "_unmean": ("_unreduce",),
    "_reduced": ("_unreduced",),
}
"""The functions that each function is mistaken for."""


def edits(node: ir.Expr, scope: Scope) -> Iterator[Edit]:
    """Every edit of this node; what is below it stays as it is."""
    for kind, after in _alternatives(node, scope):
        if after != node:
            yield Edit(kind, node, after)


def _alternatives(node: ir.Expr, scope: Scope) -> Iterator[tuple[str, ir.Expr]]:
    match node:
        case ir.Const():
            yield from _constant(node)
        case ir.Name():
            yield from _name(node, scope)
        case ir.Unary(op, operand):
            yield ("sign" if op == "-" else "negation", operand)
        case ir.Binary():
            yield from _binary(node)
        case ir.Compare(op, left, right):
            for relation in _RELATIONS[op]:
                yield "comparison", ir.Compare(relation, left, right)
        case ir.Logic(op, operands):
            yield "logic", ir.Logic("or" if op == "and" else "and", operands)
        case ir.Conditional(test, then, otherwise):
            yield "branches swapped", ir.Conditional(test, otherwise, then)
            yield "branch lost", then
            yield "branch lost", otherwise
        case ir.Sequence((first, second, *rest)):
            yield "items swapped", ir.Sequence((second, first, *rest))
        case ir.Call():
            yield from _call(node, scope)


def _constant(node: ir.Const) -> Iterator[tuple[str, ir.Expr]]:
    value = node.value
    if isinstance(value, bool):
        yield "flag", ir.Const(not value)
    elif isinstance(value, int | float):
        yield "constant", _number(value + 1)
        yield "constant", _number(value - 1)
        if value:
            yield "factor", _number(value * 2)
            yield "sign", _number(-value)


def _number(value: float) -> ir.Expr:
    """A literal; a negative one is a minus and a literal, as the parser reads it."""
    return ir.Const(value) if value >= 0 else ir.Unary("-", ir.Const(-value))


def _name(node: ir.Name, scope: Scope) -> Iterator[tuple[str, ir.Expr]]:
    name = node.id
    if name in scope.directions:
        yield "grad doubled", ir.Binary("*", node, ir.Const(2))
        yield "grad lost", ir.Binary("*", node, ir.Const(0))
        yield from (("wrong name", ir.Name(other)) for other in _next(name, scope.directions))
    elif name in scope.integers:
        yield "dimension", ir.Binary("+", node, ir.Const(1))
        yield "dimension", ir.Binary("-", node, ir.Const(1))
    elif name in scope.flags:
        yield "flag", ir.Unary("not", node)
    elif name in scope.optional:
        yield "dimension", ir.Const(None)
    elif name in scope.values:
        yield "sign", ir.Unary("-", node)
        yield from (("wrong name", ir.Name(other)) for other in _next(name, scope.values))


def _next(name: str, names: tuple[str, ...]) -> Iterator[str]:
    """One other name to be mistaken for, the same every time."""
    if len(names) > 1:
        yield names[(names.index(name) + 1) % len(names)]


def _binary(node: ir.Binary) -> Iterator[tuple[str, ir.Expr]]:
    op, left, right = node.op, node.left, node.right
    for other in _SWAPPED.get(op, ""):
        yield "operator", ir.Binary(other, left, right)
    if op in _ORDERED:
        yield "operands swapped", ir.Binary(op, right, left)
    dropped = "term lost" if op in "+-" else "factor lost"
    yield dropped, left
    if op in ("+", "*", "&", "|", "@"):
        yield dropped, right
    if op == "-":
        yield dropped, ir.Unary("-", right)
    if op == "/":
        yield "grad lost", ir.Binary("/", ir.Const(1), right)


def _call(node: ir.Call, scope: Scope) -> Iterator[tuple[str, ir.Expr]]:
    function, args, kwargs = node.function, node.args, node.kwargs
    for sibling in SIBLINGS.get(function, ()):
        if sibling in scope.functions:
            yield "function", ir.Call(sibling, args, kwargs)
    if function == "where" and len(args) == 3:
        test, then, otherwise = args
        yield "branches swapped", ir.Call("where", (test, otherwise, then))
        yield "branch lost", then
        yield "branch lost", otherwise
        return
    if len(args) == 1 or has_numbers(args[0], scope):
        yield "function lost", args[0]
    if len(args) > 1:
        first, second, *rest = args
        yield "operands swapped", ir.Call(function, (second, first, *rest), kwargs)
        yield "argument lost", ir.Call(function, args[:-1], kwargs)
    for position in range(len(kwargs)):
        others = (*kwargs[:position], *kwargs[position + 1 :])
        yield "argument lost", ir.Call(function, args, others)
    for position, arg in enumerate(args):
        if not isinstance(arg, ir.Name | ir.Const) and has_numbers(arg, scope):
            flipped = (*args[:position], ir.Unary("-", arg), *args[position + 1 :])
            yield "sign", ir.Call(function, flipped, kwargs)


def has_numbers(node: ir.Expr, scope: Scope) -> bool:
    """Return whether an expression reads more of a tensor than its shape."""
    if isinstance(node, ir.Attribute):
        return False
    known = {*scope.values, *scope.directions}
    below_attributes = {
        id(inner)
        for attribute in walk(node)
        if isinstance(attribute, ir.Attribute)
        for inner in walk(attribute)
    }
    return any(
        isinstance(part, ir.Name) and part.id in known and id(part) not in below_attributes
        for part in walk(node)
    )

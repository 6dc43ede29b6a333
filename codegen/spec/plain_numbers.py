"""`abs`, `min` and `max` of plain numbers in formulas: conditionals, so that both sides are proved.

The ops of these names take tensors. Of numbers they mean what Python means; what else they would
mean of a list of numbers is refused where it stands.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from ..ir.guard import FormulaError
from ..ir.nodes import (
    Assign,
    Attribute,
    Binary,
    Block,
    Call,
    Compare,
    Conditional,
    Const,
    Expr,
    Logic,
    Name,
    Sequence,
    Slice,
    Subscript,
    Unary,
)
from ..ir.walk import assignments, with_parts
from .model import Signature

_NUMBERS = ("int", "float", "Scalar")
_COUNTS = ("len", "numel", "int", "float")
_OF_NUMBERS = ("abs", "min", "max")
_OF_TENSORS = (*_OF_NUMBERS, "sum", "prod", "mean", "round", "amin", "amax", "cumsum", "cumprod")
"""Functions that Python's users may take for those of numbers and lists."""

_HELPS = {
    "prod": "the number of elements of a shape is `numel(x.shape)`",
    "round": "`x // 1` rounds down, `int(x)` towards zero",
}


def with_plain_numbers(block: Block, signature: Signature) -> Block:
    """Return a formula with `abs`, `min` and `max` of numbers as conditionals.

    FormulaError where `sum` and its like, or the condition of `where`, are given numbers.
    """
    kinds = _Kinds(signature, block)

    def changed(node: Any) -> Any:
        node = with_parts(node, changed)
        if not isinstance(node, Call) or node.kwargs:
            return node
        if node.function == "where" and node.args and kinds.is_answer(node.args[0]):
            message = "`where` takes a tensor for its condition, and this one is about numbers"
            raise FormulaError(node.args[0].span, "GS036", message, "write `a if condition else b`")
        if node.function not in _OF_TENSORS:
            return node
        if node.args and all(map(kinds.is_number, node.args)):
            return _of_numbers(node)
        if node.args and kinds.is_list(node.args[0]):
            message = f"`{node.function}` takes a tensor, and this is a list of numbers"
            help = _HELPS.get(node.function, "write it out: `x[0] + x[1]`")
            raise FormulaError(node.span, "GS036", message, help)
        return node

    found: Block = changed(block)
    return found


class _Kinds:
    """Which names of a formula are numbers, and which are lists of them."""

    def __init__(self, signature: Signature, block: Block) -> None:
        plain = [param for param in signature.params if param.type.base in _NUMBERS]
        self._numbers = {param.name for param in plain if not param.type.is_list}
        self._lists = {param.name for param in plain if param.type.is_list}
        flags = (param for param in signature.params if param.type.base == "bool")
        self._flags = {param.name for param in flags if not param.type.is_list}
        made: dict[str, list[Assign]] = {}
        for assignment in assignments(block):
            for target in assignment.targets:
                made.setdefault(target, []).append(assignment)
        for name, every in made.items():  # in the order of the lines, as one may use the one before
            values = [assignment.value for assignment in every if len(assignment.targets) == 1]
            if len(values) == len(every) and all(map(self.is_number, values)):
                self._numbers.add(name)
            if len(values) == len(every) and all(map(self.is_list, values)):
                self._lists.add(name)

    def is_number(self, expr: Expr) -> bool:
        """Return whether an expression is certainly a plain number."""
        match expr:
            case Const(value):
                return isinstance(value, int | float) and not isinstance(value, bool)
            case Name(name):
                return name in self._numbers
            case Attribute(_, name):
                return name == "ndim"
            case Call(function, args):
                return function in _COUNTS and len(args) == 1
            case Unary("-", operand):
                return self.is_number(operand)
            case Binary(_, left, right):
                return self.is_number(left) and self.is_number(right)
            case Conditional(_, then, otherwise):
                return self.is_number(then) and self.is_number(otherwise)
            case Subscript(value, index):
                return not isinstance(index, Slice) and self.is_list(value)
        return False

    def is_answer(self, expr: Expr) -> bool:
        """Return whether an expression is certainly one `True` or `False`."""
        match expr:
            case Const(value):
                return isinstance(value, bool)
            case Name(name):
                return name in self._flags
            case Compare("==" | "!=" | "<" | "<=" | ">" | ">=", left, right):
                return self.is_number(left) and self.is_number(right)
            case Logic() | Unary("not"):
                return True
        return False

    def is_list(self, expr: Expr) -> bool:
        """Return whether an expression is certainly a list of plain numbers."""
        match expr:
            case Name(name):
                return name in self._lists
            case Attribute(Name(), "shape" | "strides"):
                return True
            case Subscript(value, Slice()):
                return self.is_list(value)
            case Sequence(items):
                return all(map(self.is_number, items))
        return False


def _of_numbers(call: Call) -> Expr:
    match call.function, call.args:
        case "abs", (number,):
            is_negative = Compare("<", number, Const(0), span=call.span)
            return Conditional(
                is_negative, Unary("-", number, span=call.span), number, span=call.span
            )
        case "min" | "max", (_, _, *_):
            return reduce(lambda one, other: _extreme(call, one, other), call.args)
    message = f"`{call.function}` takes a tensor, and this is a number"
    raise FormulaError(call.span, "GS036", message, _HELPS.get(call.function, "use the number"))


def _extreme(call: Call, one: Expr, other: Expr) -> Expr:
    word = "<" if call.function == "min" else ">"
    is_other = Compare(word, other, one, span=call.span)
    return Conditional(is_other, other, one, span=call.span)

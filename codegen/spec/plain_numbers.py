"""`abs`, `min` and `max` of plain numbers in formulas: conditionals, so that both sides are proved.

The ops of these names take tensors. Of numbers they mean what Python means; what else they would
mean of a list of numbers is refused where it stands.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from ..ir.guard import FormulaError
from ..ir.nodes import Block, Call, Compare, Conditional, Const, Expr, Unary
from ..ir.walk import with_parts
from .kinds import Kind, Kinds, kinds_of_params
from .model import Signature

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
    kinds = Kinds(kinds_of_params(signature), block)

    def changed(node: Any) -> Any:
        node = with_parts(node, changed)
        if not isinstance(node, Call) or node.kwargs:
            return node
        if node.function == "where" and node.args and kinds.of(node.args[0]) is Kind.FLAG:
            message = "`where` takes a tensor for its condition, and this one is about numbers"
            raise FormulaError(node.args[0].span, "GS036", message, "write `a if condition else b`")
        if node.function not in _OF_TENSORS:
            return node
        if node.args and all(kinds.of(arg) in (Kind.NUMBER, Kind.FLAG) for arg in node.args):
            return _of_numbers(node)
        if node.args and kinds.of(node.args[0]) is Kind.NUMBERS:
            message = f"`{node.function}` takes a tensor, and this is a list of numbers"
            help = _HELPS.get(node.function, "write it out: `x[0] + x[1]`")
            raise FormulaError(node.span, "GS036", message, help)
        return node

    found: Block = changed(block)
    return found


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

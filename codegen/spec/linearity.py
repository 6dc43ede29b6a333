"""Forwards that anybody can see are not linear, so that `auto_linear` on them is a slip.

Only sure cases are found; the proof finds the others.
"""

from __future__ import annotations

from collections.abc import Collection

from ..ir.nodes import Binary, Block, Call, Const, Expr, Name, Node, Unary
from ..ir.walk import walk

_NONLINEAR = frozenset(
    (
        *("exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sqrt", "rsqrt", "square"),
        *("abs", "absolute", "sign", "reciprocal", "sigmoid", "expit", "erf", "erfc", "erfinv"),
        *("sin", "cos", "tan", "asin", "acos", "atan", "arcsin", "arccos", "arctan"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "arcsinh", "arccosh", "arctanh"),
        *("gamma", "gammaln", "lgamma", "digamma", "logsumexp", "softmax", "log_softmax"),
        *("relu", "gelu", "silu", "softplus", "maximum", "minimum"),
    )
)


def nonlinear_part(block: Block, tensors: Collection[str]) -> Node | None:
    """A part of a one-expression forward that is surely not linear in `tensors`, or None."""
    if block.expression is None:
        return None
    return next((node for node in walk(block) if _is_nonlinear(node, tensors)), None)


def _is_nonlinear(node: Node, tensors: Collection[str]) -> bool:
    match node:
        case Call(function=function, args=args):
            leaf = function.rpartition(".")[2]
            return leaf in _NONLINEAR and any(_is_multiple(arg, tensors) for arg in args)
        case Binary(op="*" | "@", left=left, right=right):
            return _is_multiple(left, tensors) and _is_multiple(right, tensors)
        case Binary(op="/" | "//" | "%", right=right):
            return _is_multiple(right, tensors)
        case Binary(op="**", left=left, right=right):
            return _is_multiple(right, tensors) or (
                _is_multiple(left, tensors) and isinstance(right, Const) and right.value != 1
            )
    return False


def _is_multiple(node: Expr, tensors: Collection[str]) -> bool:
    """Return whether this is one of the tensors, perhaps times a number."""
    match node:
        case Name(id=name):
            return name in tensors
        case Unary(op="-", operand=operand):
            return _is_multiple(operand, tensors)
        case (
            Binary(op="*", left=Const(), right=other)
            | Binary(op="*" | "/", left=other, right=Const())
        ):
            return _is_multiple(other, tensors)
    return False

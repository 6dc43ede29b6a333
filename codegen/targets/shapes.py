"""Shapes of what is computed element by element, told by those of what it is computed from."""

from __future__ import annotations

from ..ir import nodes as ir
from ..render.resolve import HELPERS, Kind, Resolver
from ..spec.elementwise import is_elementwise_call

_NUMBERS = ("number", "int", "bool")


def broadcast_from(
    expr: ir.Expr, resolver: Resolver, kinds: dict[str, Kind]
) -> dict[ir.Expr, None] | None:
    """The tensors to whose shapes together an expression is broadcast; None if it does more."""
    match expr:
        case ir.Name():
            return {expr: None} if resolver.kind(expr, kinds) not in _NUMBERS else {}
        case ir.Const() | ir.Attribute() | ir.Subscript() if resolver.kind(expr, kinds) in _NUMBERS:
            return {}
        case ir.Unary("-", operand):
            parts: tuple[ir.Expr, ...] = (operand,)
        case ir.Binary(op, left, right) if op != "@":
            parts = (left, right)
        case ir.Call(function, args, ()) if function in HELPERS:
            return {}
        case ir.Call(function, args, ()) if is_elementwise_call(
            function, len(args), resolver.table
        ):
            parts = args
        case _:
            return None
    found: dict[ir.Expr, None] = {}
    for part in parts:
        sources = broadcast_from(part, resolver, kinds)
        if sources is None:
            return None
        found |= sources
    return found

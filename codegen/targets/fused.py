"""Arithmetic that a framework computes in one kernel: patterns of its table, found in formulas."""

from __future__ import annotations

from typing import cast

from ..ir import nodes as ir


def parts(pattern: ir.Expr, node: ir.Expr) -> dict[str, ir.Expr] | None:
    """Find what the names of a pattern stand for in an expression; None if it has another form."""
    found: dict[str, ir.Expr] = {}
    return found if _matches(pattern, node, found) else None


def _matches(pattern: object, node: object, found: dict[str, ir.Expr]) -> bool:
    if isinstance(pattern, ir.Name):
        return bool(found.setdefault(pattern.id, cast("ir.Expr", node)) == node)
    if type(pattern) is not type(node):
        return False
    if not isinstance(pattern, ir.Node):
        return bool(pattern == node)
    fields: tuple[str, ...] = pattern.__match_args__
    return all(_matches(getattr(pattern, name), getattr(node, name), found) for name in fields)

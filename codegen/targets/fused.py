"""Arithmetic that a framework computes in one kernel: patterns of its table, found in formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from ..ir import nodes as ir
from ..ir.walk import calls, substitute, with_parts

ONCE = "?once"
"""The function of a call that stands for a pattern, whose number is behind it."""


def in_one_pass(
    block: ir.Block, patterns: Sequence[ir.Expr], is_tensor: Callable[[ir.Expr], bool]
) -> ir.Expr | None:
    """The value of a straight block, with calls in the place of patterns; None if there are none.

    Locals are written out, so that a pattern is found across the names that an author gave.
    """
    known: dict[str, ir.Expr] = {}
    value: Any = None
    for statement in block.statements:
        assert isinstance(statement, ir.Assign | ir.Return)
        value = substitute(statement.value, known)
        if isinstance(statement, ir.Assign):
            if len(statement.targets) > 1:
                return None
            known[statement.targets[0]] = value

    def replaced(node: Any) -> Any:
        for number, pattern in enumerate(patterns if isinstance(node, ir.Binary) else ()):
            found = parts(pattern, node)
            if found and all(map(is_tensor, found.values())):
                words = tuple(map(replaced, found.values()))
                return ir.Call(f"{ONCE} {number}", words, span=node.span)
        return with_parts(node, replaced)

    found = replaced(value)
    is_there = any(call.function.startswith(ONCE) for call in calls(found))
    return cast("ir.Expr", found) if is_there else None


def pattern_of(call: ir.Call, patterns: Sequence[ir.Expr]) -> tuple[ir.Expr, dict[str, ir.Expr]]:
    """The pattern that a call stands for, and what its names are."""
    pattern = patterns[int(call.function.removeprefix(ONCE))]
    names = parts(pattern, pattern) or {}
    return pattern, dict(zip(names, call.args, strict=True))


def parts(pattern: ir.Expr, node: ir.Expr) -> dict[str, ir.Expr] | None:
    """Find what the names of a pattern stand for in an expression; None if it has another form."""
    found: dict[str, ir.Expr] = {}
    return found if _matches(pattern, node, found) else None


def _matches(pattern: object, node: object, found: dict[str, ir.Expr]) -> bool:
    if isinstance(pattern, ir.Name):
        return bool(found.setdefault(pattern.id, cast("ir.Expr", node)) == node)
    if type(pattern) is not type(node):
        return False
    if isinstance(pattern, tuple) and isinstance(node, tuple) and len(pattern) == len(node):
        return all(_matches(one, other, found) for one, other in zip(pattern, node, strict=True))
    if not isinstance(pattern, ir.Node):
        return bool(pattern == node)
    fields: tuple[str, ...] = pattern.__match_args__
    return all(_matches(getattr(pattern, name), getattr(node, name), found) for name in fields)

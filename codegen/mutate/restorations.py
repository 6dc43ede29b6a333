"""Edits of one node that put back what an author may have forgotten."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir import nodes as ir
from .edits import Edit, Scope, edits, has_numbers

_PHRASES = {
    "sign": "the sign",
    "operator": "the operator",
    "operands swapped": "the order of the operands",
    "items swapped": "the order of the gradients",
    "factor lost": "a factor too many",
    "term lost": "a term too many",
    "grad doubled": "a factor of 2",
    "constant": "a constant",
    "factor": "a factor of 2",
    "wrong name": "the name",
    "dimension": "the dimension",
    "flag": "the flag",
    "comparison": "the comparison",
    "logic": "the logic",
    "negation": "the negation",
    "branches swapped": "the order of the branches",
    "branch lost": "a branch too many",
    "function": "the function",
    "function lost": "a function too many",
    "argument lost": "an argument too many",
}
"""The mistake, by the kind of edit that undoes it."""


def repairs(node: ir.Expr, scope: Scope) -> Iterator[Edit]:
    """Every edit that may make a formula right; `kind` says what was wrong."""
    for phrase, after in _restored(node, scope):
        yield Edit(phrase, node, after)
    for edit in edits(node, scope):
        if edit.kind in _PHRASES:
            yield Edit(_PHRASES[edit.kind], node, edit.after)


def _restored(node: ir.Expr, scope: Scope) -> Iterator[tuple[str, ir.Expr]]:
    if not has_numbers(node, scope):
        return
    yield "the sign", ir.Unary("-", node)
    if not any(has_numbers(node, _only(scope, name)) for name in scope.directions):
        for name in scope.directions:
            yield f"`{name}` is missing", ir.Binary("*", ir.Name(name), node)
    if isinstance(node, ir.Name):
        yield from _factors(node, scope)
    for function in ("t", "conj"):
        if function in scope.functions:
            yield f"`{function}` is missing", ir.Call(function, (node,))
    if "sum" in scope.functions:
        yield "a sum is missing", ir.Call("sum", (node,))
        for name in sorted(scope.integers):
            args = (node, ir.Name(name), ir.Const(True))
            yield "a sum is missing", ir.Call("sum", args)
    yield "`1 -` is missing", ir.Binary("-", ir.Const(1), node)


def _factors(node: ir.Name, scope: Scope) -> Iterator[tuple[str, ir.Expr]]:
    """Factors stand beside a name: that reaches every product."""
    for number in (2, 3):
        yield f"a factor {number} is missing", ir.Binary("*", ir.Const(number), node)
        yield f"a factor {number} is too many", ir.Binary("/", node, ir.Const(number))
    for name in scope.values:
        yield f"a factor `{name}` is missing", ir.Binary("*", node, ir.Name(name))
        yield f"a division by `{name}` is missing", ir.Binary("/", node, ir.Name(name))
    yield "a power is missing", ir.Binary("**", node, ir.Const(2))


def _only(scope: Scope, direction: str) -> Scope:
    return Scope((), (direction,), scope.integers, scope.flags, scope.optional, scope.functions)

"""Rewriting formulas by a table: patterns with capital letters, matched on the syntax tree."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from ..ir import nodes as ir
from ..ir.parse import parse
from ..ir.parts import parts_of, with_parts
from ..ir.walk import names, substitute, walk

_FILE: Final = Path(__file__).with_name("rewrites.yaml")

Bound = dict[str, ir.Expr]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One entry of the table: a form, the one to write instead, and where that is from."""

    before: ir.Expr
    after: ir.Expr
    source: str
    text: str
    """`log(1 + X) → log1p(X)`"""

    def at(self, expr: ir.Expr) -> ir.Expr | None:
        """The expression rewritten as a whole; None if it does not match."""
        for bound in _matches(self.before, plain(expr), {}):
            return substitute(self.after, bound)
        return None


@functools.cache
def rewrites() -> tuple[Rewrite, ...]:
    """The table, in its order."""
    entries = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return tuple(
        Rewrite(
            plain(_expression(entry["from"])),
            _expression(entry["to"]),
            entry["source"],
            f"{entry['from']} → {entry['to']}",
        )
        for entry in entries
    )


def rewritten(expr: ir.Expr, table: tuple[Rewrite, ...]) -> Iterator[tuple[ir.Expr, Rewrite]]:
    """The expression with one entry of the table applied at one place, in every way."""
    for rewrite in table:
        found = rewrite.at(expr)
        if found is not None:
            yield found, rewrite
    for place, part in parts_of(expr).items():
        for found, rewrite in rewritten(part, table):
            yield with_parts(expr, {place: found}), rewrite


def plain(expr: ir.Expr) -> ir.Expr:
    """The expression in the one way that patterns are written in.

    Primitives have the names of ops, products of the same are squares, and numbers with a sign are
    written with one.
    """
    expr = with_parts(expr, {place: plain(part) for place, part in parts_of(expr).items()})
    match expr:
        case ir.Call(function, args, kwargs):
            name = _NAMES.get(function, function.partition(".")[2] or function)
            if name == "square":
                return ir.Binary("**", args[0], ir.Const(2))
            return ir.Call(name, args, kwargs)
        case ir.Binary("*", left, right) if left == right:
            return ir.Binary("**", left, ir.Const(2))
        case ir.Binary("+", left, ir.Unary("-", right)):
            return ir.Binary("-", left, right)
        case ir.Const(float() as value) if value.is_integer():
            return ir.Const(int(value))
    return expr


_NAMES: Final = {
    "sp.expit": "sigmoid",
    "sp.ndtr": "special_ndtr",
    "sp.log_ndtr": "special_log_ndtr",
    "sp.erfcx": "special_erfcx",
    "np.arctanh": "atanh",
    "np.absolute": "abs",
}
"""The ops that primitives are called as, where the names differ."""

_COMMUTATIVE: Final = ("+", "*")


def _expression(text: str) -> ir.Expr:
    found = parse(text).expression
    assert found is not None
    return found


def _matches(pattern: ir.Expr, expr: ir.Expr, bound: Mapping[str, ir.Expr]) -> Iterator[Bound]:
    """The ways in which a pattern is an expression, with what its letters stand for."""
    match pattern, expr:
        case ir.Name(letter), _ if _is_letter(letter):
            if letter not in bound:
                yield {**bound, letter: expr}
            elif bound[letter] == expr:
                yield dict(bound)
        case ir.Unary("-", inner), _:
            yield from _of_negative(inner, expr, bound)
        case ir.Binary(op, left, right), ir.Binary(other, a, b) if op == other:
            yield from _pairs((left, right), (a, b), bound)
            if op in _COMMUTATIVE:
                yield from _pairs((left, right), (b, a), bound)
        case ir.Call(function, args, ()), ir.Call(called, given, ()) if function == called:
            if len(args) == len(given):
                yield from _pairs(args, given, bound)
        case _ if pattern == expr:
            yield dict(bound)


def _of_negative(inner: ir.Expr, expr: ir.Expr, bound: Mapping[str, ir.Expr]) -> Iterator[Bound]:
    """The ways in which minus a pattern is an expression, the sign in front or in a factor."""
    match expr:
        case ir.Unary("-", operand):
            yield from _matches(inner, operand, bound)
        case ir.Binary("*" | "/" as op, ir.Unary("-", left), right):
            yield from _matches(inner, ir.Binary(op, left, right), bound)
        case ir.Binary("-", left, right):
            yield from _matches(inner, ir.Binary("-", right, left), bound)


def _pairs(
    patterns: tuple[ir.Expr, ...], given: tuple[ir.Expr, ...], bound: Mapping[str, ir.Expr]
) -> Iterator[Bound]:
    if not patterns:
        yield dict(bound)
        return
    for found in _matches(patterns[0], given[0], bound):
        yield from _pairs(patterns[1:], given[1:], found)


def _is_letter(name: str) -> bool:
    return len(name) == 1 and name.isupper()


def size(expr: ir.Expr) -> int:
    """The number of nodes of an expression."""
    return sum(1 for _ in walk(expr))


def letters(expr: ir.Expr) -> set[str]:
    """The letters of a pattern."""
    return {name.id for name in names(expr) if _is_letter(name.id)}

"""Derivatives along every way through the conditions that they depend on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ..ir.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Conditional,
    Const,
    Expr,
    If,
    Name,
    Return,
    Stmt,
)
from ..ir.walk import assigned_names, names, substitute, with_parts
from ..render.to_text import formula_text
from ..spec.shared_locals import leading
from .terms import NoDerivative, Undecided

MOST_CHOICES = 2
LONGEST_CHOICE = 100
"""Ways that differ in more names, or by longer formulas, are written one behind the other."""

MOST_WAYS = 64
"""A definition with more conditions, on all ways together, is not differentiated."""


def every_way(
    assumed: Mapping[str, bool],
    derive: Callable[[Mapping[str, bool]], tuple[tuple[Stmt, ...], bool]],
    budget: list[int] | None = None,
) -> tuple[Block, bool]:
    """The derivative along every way through the conditions; and whether it is ever there."""
    budget = [MOST_WAYS] if budget is None else budget
    budget[0] -= 1
    if budget[0] < 0:
        raise NoDerivative("there are too many ways through its conditions")
    try:
        statements, found = derive(assumed)
        return Block(statements), found
    except Undecided as undecided:
        test = undecided.test
    text = formula_text(test)
    then, is_there = every_way({**assumed, text: True}, derive, budget)
    otherwise, is_here = every_way({**assumed, text: False}, derive, budget)
    if then == otherwise:
        return then, is_there
    return _either(test, then, otherwise), is_there or is_here


def _either(test: Expr, then: Block, otherwise: Block) -> Block:
    """Two ways behind a condition; what both compute stands before it, once."""
    common: list[Stmt] = []
    apart = assigned_names(then) | assigned_names(otherwise)
    others = leading(otherwise)
    for made in leading(then):
        if made in others and apart.isdisjoint(name.id for name in names(made.value)):
            common.append(made)
            apart -= {*made.targets}
    first, second = (
        tuple(statement for statement in block.statements if statement not in common)
        for block in (then, otherwise)
    )
    joined = _joined(test, first, second)
    return Block((*common, *(joined or (If(test, first, ()), *second))))


def _joined(
    test: Expr, then: tuple[Stmt, ...], otherwise: tuple[Stmt, ...]
) -> tuple[Stmt, ...] | None:
    """Two ways as one, if all that differs is what a few names stand for."""
    if len(then) != len(otherwise):
        return None
    found: list[Stmt] = []
    for one, other in zip(then, otherwise, strict=True):
        match one, other:
            case _ if one == other:
                found.append(one)
            case Assign((name,), value), Assign((same,), another) if name == same:
                choice = Conditional(test, value, another)
                if len(formula_text(choice)) > LONGEST_CHOICE:
                    return None
                found.append(Assign((name,), choice))
            case _:
                return None
    return tuple(found) if len({*found} - {*then}) <= MOST_CHOICES else None


def with_named_tests(
    statements: tuple[Stmt, ...],
    values: Mapping[str, Expr] = MappingProxyType({}),
    known: Mapping[Expr, Name] = MappingProxyType({}),
) -> tuple[Stmt, ...]:
    """Statements whose tests read the names of what is computed before them.

    `values` are those of the names so far, in terms of arguments, and `known` the names of these.
    """
    values, known = dict(values), dict(known)
    found: list[Stmt] = []
    for statement in statements:
        match statement:
            case If(test, then, otherwise):
                ways = (with_named_tests(way, values, known) for way in (then, otherwise))
                statement = If(_named(test, known), *ways)
            case Assign((name,), value):
                statement = Assign((name,), _in_tests(value, known))
                values[name] = substitute(value, values)
                if isinstance(values[name], Binary | Call):
                    known.setdefault(values[name], Name(name))
            case Return(value):
                statement = Return(_in_tests(value, known))
        found.append(statement)
    return tuple(found)


def _in_tests(node: Any, known: Mapping[Expr, Name]) -> Any:
    """A value whose conditional expressions read names in their tests."""
    node = with_parts(node, lambda part: _in_tests(part, known))
    if isinstance(node, Conditional):
        return Conditional(_named(node.test, known), node.then, node.otherwise)
    return node


def _named(node: Any, known: Mapping[Expr, Name]) -> Any:
    """A test with names for the largest parts that have any."""
    if isinstance(node, Binary | Call) and node in known:
        return known[node]
    return with_parts(node, lambda part: _named(part, known))


def absent(assumed: Mapping[str, bool]) -> dict[str, Expr]:
    """The arguments that are None on this way; a JVP calls them `weight_p`."""
    return {
        text.removesuffix(" is None").removesuffix("_p"): Const(None)
        for text, holds in assumed.items()
        if holds and text.endswith(" is None")
    }

"""Find where formulas linear in some names read their numbers, and where only their shapes."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from ..ir.nodes import (
    Assign,
    Attribute,
    Block,
    Call,
    Const,
    Expr,
    If,
    Name,
    Node,
    Return,
    Stmt,
)
from ..ir.walk import children, with_parts
from ..render.resolve import HELPERS
from ..spec.model import Formula, NonDifferentiable, OpSpec, Rule, Table
from .terms import NoDerivative


def with_shapes_of(block: Block, alike: Mapping[str, str], table: Table, reason: str) -> Block:
    """A formula in which names whose shapes alone are read are replaced by others as large.

    Raises NoDerivative, with the reason, if one of them is read as numbers.
    """

    def replaced(node: Any) -> Any:
        match node:
            case Name(name):
                return Name(alike.get(name, name))
            case Attribute(Name(name), "meta") if name in alike:
                return Name(alike[name])
        return with_parts(node, replaced)

    def changed(statements: tuple[Stmt, ...], dependent: Set[str]) -> tuple[Stmt, ...]:
        found: list[Stmt] = []
        for statement in statements:
            match statement:
                case Assign(targets, value):
                    if reads_numbers(value, dependent, table):
                        dependent = dependent | {*targets}
                    found.append(Assign(targets, replaced(value)))
                case Return(value) if not reads_numbers(value, dependent, table):
                    found.append(Return(replaced(value)))
                case If(test, then, otherwise) if not reads_numbers(test, dependent, table):
                    ways = changed(then, dependent), changed(otherwise, dependent)
                    found.append(If(replaced(test), *ways))
                case _:
                    raise NoDerivative(reason)
        return tuple(found)

    return Block(changed(block.statements, alike.keys()))


def reads_numbers(node: Node, names: Set[str], table: Table) -> bool:
    """Return whether a formula depends on the elements of some names, and not on shapes alone."""
    match node:
        case Name(name):
            return name in names
        case Attribute():
            return False
        case Call(function, args, kwargs) if function not in HELPERS:
            given: list[tuple[int | str, Expr]] = [*enumerate(args), *kwargs]
            return any(
                reads_numbers(value, names, table) and _takes_numbers(function, place, table)
                for place, value in given
            )
    return any(reads_numbers(child, names, table) for child in children(node))


def _takes_numbers(function: str, place: int | str, table: Table) -> bool:
    """Return whether an op reads the elements of an argument, as far as its entry tells."""
    ops = table.overloads(function)
    return not ops or any(_reads(op, place, table) for op in ops)


def _reads(op: OpSpec, place: int | str, table: Table) -> bool:
    params = op.signature.params
    read = {p.name for number, p in enumerate(params) if place in (number, p.name)}
    if not any(reads_numbers(s, read, table) for s in _statements(op)):
        return False
    rules = [rule for names, rule in op.vjps if read & {*names}]
    return not rules or not all(map(_is_zero, rules))


def _statements(op: OpSpec) -> tuple[Stmt, ...]:
    return () if op.definition is None else op.definition.block.statements


def _is_zero(rule: Rule) -> bool:
    match rule:
        case NonDifferentiable() | Formula(block=Block(expression=Const(None) | Call("_zero"))):
            return True
    return False

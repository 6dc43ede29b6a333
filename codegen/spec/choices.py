"""Numbers that a formula chooses between by `where` take the dtype of what is differentiated.

`grad * where(self > 0, 1, 0.5)` has to be of the dtype of `self`. Two numbers have none of their
own, and an array of them would be of NumPy's, in which single precision is lost. What a `forward`
chooses and does not compute with, such as a mask of zeros and ones, keeps NumPy's.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, TypeVar

from ..ir.nodes import (
    Assign,
    Attribute,
    Binary,
    Block,
    Call,
    Conditional,
    Const,
    Expr,
    Name,
    Node,
    Unary,
)
from ..ir.walk import walk, with_parts
from .model import Formula, OpSpec, Table
from .vocabulary import CONSTANTS

CHOICE = "_choice"
"""The op of the table that chooses between two numbers, in a dtype."""

_R = TypeVar("_R")


def with_choices(table: Table) -> Table:
    """The table with every `where` of two numbers told its dtype."""
    return Table(tuple(map(_with_choices, table.ops)))


def _with_choices(op: OpSpec) -> OpSpec:
    params = [p for p in op.signature.tensor_params if p.name in op.differentiable_params]
    given = [p.name for p in params if not (p.type.is_list or p.type.is_optional)]
    if not given:
        return op
    lists = {p.name for p in params if p.type.is_list}
    numbers = {p.name for p in op.signature.params if p.type.base in ("int", "float", "Scalar")}
    numbers |= {*CONSTANTS}
    vjps = [
        (names, _in_dtype(rule, given[0] if names[0] in lists else names[0], numbers))
        for names, rule in op.vjps
    ]
    jvps = [(key, _in_dtype(rule, f"{given[0]}_p", numbers)) for key, rule in op.jvps]
    forward = op.forward
    if isinstance(forward, Formula):
        dtype = Attribute(Name(given[0]), "dtype")
        told = _operands_told(forward.block, dtype, numbers, _operands(forward.block))
        forward = dataclasses.replace(forward, block=told)
    return dataclasses.replace(op, forward=forward, vjps=tuple(vjps), jvps=tuple(jvps))


def _in_dtype(rule: _R, like: str, numbers: set[str]) -> _R:
    if not isinstance(rule, Formula):
        return rule
    block = _told(rule.block, Attribute(Name(like), "dtype"), numbers)
    return rule if block == rule.block else dataclasses.replace(rule, block=block)


def _told(node: Any, dtype: Expr, numbers: set[str]) -> Any:
    """A node with the dtype in each choice below it; what is no node stays as it is."""
    if isinstance(node, tuple):
        return tuple(_told(item, dtype, numbers) for item in node)
    if not isinstance(node, Node):
        return node
    return _choice(with_parts(node, partial(_told, dtype=dtype, numbers=numbers)), dtype, numbers)


def _operands(block: Block) -> set[str]:
    """The names that a formula computes with by operators."""
    sides = [s for n in walk(block) if isinstance(n, Binary) for s in (n.left, n.right)]
    return {side.id for side in sides if isinstance(side, Name)}


def _operands_told(node: Any, dtype: Expr, numbers: set[str], operands: set[str]) -> Any:
    """A node with the dtype in each choice that is an operand, or that one stands for."""
    if isinstance(node, tuple):
        return tuple(_operands_told(item, dtype, numbers, operands) for item in node)
    if not isinstance(node, Node):
        return node
    below = partial(_operands_told, dtype=dtype, numbers=numbers, operands=operands)
    node = with_parts(node, below)
    if isinstance(node, Assign) and not operands.isdisjoint(node.targets):
        return dataclasses.replace(node, value=_choice(node.value, dtype, numbers))
    if isinstance(node, Binary):
        left, right = (_choice(side, dtype, numbers) for side in (node.left, node.right))
        return dataclasses.replace(node, left=left, right=right)
    return node


def _choice(node: Any, dtype: Expr, numbers: set[str]) -> Any:
    match node:
        case Call("where", (condition, this, other)) if all(
            _is_number(choice, numbers) for choice in (this, other)
        ):
            return Call(CHOICE, (condition, this, other), (("dtype", dtype),), span=node.span)
    return node


def _is_number(node: Expr, numbers: set[str]) -> bool:
    match node:
        case Const(value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case Name(id):
            return id in numbers
        case Unary("-", operand):
            return _is_number(operand, numbers)
        case Binary(_, left, right):
            return _is_number(left, numbers) and _is_number(right, numbers)
        case Conditional(_, then, otherwise):
            return _is_number(then, numbers) and _is_number(otherwise, numbers)
    return False

"""Make tests false wherever they have no value: of absent arguments, beyond the last dimension.

    weight.shape[1] == self.shape[0]

becomes, if nothing is known of the two before and `weight` is optional,

    weight is not None and weight.ndim >= 2 and self.ndim >= 1 and weight.shape[1] == self.shape[0]
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field

from .nodes import (
    Attribute,
    Binary,
    Call,
    Compare,
    Const,
    Expr,
    Logic,
    Name,
    Node,
    Slice,
    Subscript,
    Unary,
)
from .walk import children

_OPPOSITES = {"is": "is not", "is not": "is", "==": "!=", "!=": "==", "<": ">=", "<=": ">"}

_LEAST = {"==": 0, ">=": 0, ">": 1}
"""The amount by which the smallest left side exceeds the right side of a comparison."""

_OF_ABSENT = ("is", "is not", "==", "!=", "in", "not in")
"""Comparisons that None may take part in."""


@dataclass(frozen=True, slots=True)
class Known:
    """Facts that earlier tests have made sure of."""

    present: frozenset[str] = frozenset()
    """Optional arguments that are given."""
    lengths: Mapping[Expr, int] = field(default_factory=dict)
    """The smallest length of shapes and lists."""

    def also(self, test: Expr, *, holds: bool = True) -> Known:
        """Add what a test tells where it holds, or where it does not."""
        match test:
            case Compare(op, left, Const(value)):
                op = op if holds else _OPPOSITES.get(op, "")
                if op == "is not" and value is None and isinstance(left, Name):
                    return Known(self.present | {left.id}, self.lengths)
                measured = _measured(left)
                if measured is not None and op in _LEAST and type(value) is int:
                    least = max(value + _LEAST[op], self.lengths.get(measured, 0))
                    return Known(self.present, {**self.lengths, measured: least})
        return self


def defined(
    test: Expr, optional: Container[str], known: Known, *, holds: bool = True
) -> tuple[Expr, Known]:
    """The test, or its opposite, with all it needs in front; and what is known where that holds.

    `optional` are the arguments that may be None.
    """
    match test:
        case Unary("not", operand):
            return defined(operand, optional, known, holds=not holds)
        case Logic(op, operands):
            word = op if holds else {"and": "or", "or": "and"}[op]
            inside, parts = known, []
            for operand in operands:
                part, after = defined(operand, optional, inside, holds=holds)
                parts.append(part)
                inside = after if word == "and" else inside.also(operand, holds=not holds)
            return _joined(word, parts, test), inside if word == "and" else known
    needs = list(_needs(test, optional, known))
    for need in needs:
        known = known.also(need)
    atom = test if holds else Unary("not", test, span=test.span)
    return _joined("and", [*needs, atom], test), known.also(test, holds=holds)


def _joined(word: str, parts: list[Expr], test: Expr) -> Expr:
    if len(parts) == 1:
        return parts[0]
    flat: list[Expr] = []
    for part in parts:
        flat += part.operands if isinstance(part, Logic) and part.op == word else [part]
    return Logic(word, tuple(flat), span=test.span)


def _needs(test: Expr, optional: Container[str], known: Known) -> Iterator[Expr]:
    """Yield tests without which this one would raise."""
    nodes = list(_inside_out(test))
    may_be_none = _compared_with_none(nodes)
    absent = [
        node
        for node in nodes
        if isinstance(node, Name) and node.id in optional and id(node) not in may_be_none
    ]
    for name in {node.id: node for node in absent}.values():
        if name.id not in known.present:
            yield Compare("is not", name, Const(None))
    lengths: dict[Expr, int] = {}
    for node in nodes:
        match node:
            case Subscript(_, Slice()):
                continue
            case Subscript(sequence, index):
                least = _least_length(index)
                if least is None:
                    assert not isinstance(index, Slice)
                    length = _length(sequence)
                    yield Compare(">=", index, Unary("-", length))
                    yield Compare("<", index, length)
                elif least > max(lengths.get(sequence, 0), known.lengths.get(sequence, 0)):
                    lengths[sequence] = least
            case Binary("/" | "//" | "%", _, divisor) if not isinstance(divisor, Const):
                yield Compare("!=", divisor, Const(0))
    for sequence, least in lengths.items():
        yield Compare(">=", _length(sequence), Const(least))


def _inside_out(node: Node) -> Iterator[Node]:
    for child in children(node):
        yield from _inside_out(child)
    yield node


def _compared_with_none(nodes: list[Node]) -> set[int]:
    """Identify the names that are sides of comparisons, as they stand, which None may be."""
    sides = (
        side
        for node in nodes
        if isinstance(node, Compare) and node.op in _OF_ABSENT
        for side in (node.left, node.right)
    )
    return {id(side) for side in sides if isinstance(side, Name)}


def _least_length(index: Node) -> int | None:
    """Return the smallest length that has an item at a constant index; None for other indices."""
    match index:
        case Const(int(place)):
            return place + 1
        case Unary("-", Const(int(place))):
            return place
    return None


def _length(sequence: Expr) -> Expr:
    if isinstance(sequence, Attribute) and sequence.name == "shape":
        return Attribute(sequence.value, "ndim")
    return Call("len", (sequence,))


def _measured(length: Expr) -> Expr | None:
    """Return the shape or the list that an expression gives the length of."""
    match length:
        case Attribute(value, "ndim"):
            return Attribute(value, "shape")
        case Call("len", (sequence,)):
            return sequence
    return None

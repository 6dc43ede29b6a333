"""Tensor arguments of an op that are data, as indices and masks are: they have no derivative."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ..ir.nodes import (
    Assign,
    Attribute,
    Binary,
    Call,
    Compare,
    If,
    Name,
    Node,
    Return,
    Subscript,
)
from ..ir.walk import children, walk
from .model import NonDifferentiable, OpSpec, Param, Table


def is_data(op: OpSpec, param: str, table: Table) -> bool:
    """Return whether examples give whole numbers or flags for an argument, or, where there are no
    examples, the definition passes it on as such and does nothing else with it."""
    if op.examples:
        given = [dict(example.args).get(param) for example in op.examples]
        kinds = [next(iter(value)) for value in given if isinstance(value, Mapping)]
        return bool(kinds) and all(kind in ("int", "bool") for kind in kinds)
    return _is_passed_on(op, param, table, frozenset())


def _is_passed_on(op: OpSpec, param: str, table: Table, above: frozenset[str]) -> bool:
    """Return whether every use of an argument is where an op takes no derivative by it.

    `above` names the composites that call this op.
    """
    if op.definition is None or op.name in above:
        return False
    known, above = {param}, above | {op.name}
    is_used = False
    for node in walk(op.definition.block):
        if not isinstance(node, Assign | Return | If):
            continue
        found = list(_reads(node.test if isinstance(node, If) else node.value, known, table, above))
        is_used |= True in found
        if False in found:
            if not isinstance(node, Assign):
                return False
            known |= {*node.targets}  # which holds positions or flags made of it
    return is_used


def _reads(
    node: Node, known: Collection[str], table: Table, above: frozenset[str], is_data: bool = False
) -> Iterator[bool]:
    """For each read of a name, whether an op takes no derivative by what is made of it there."""
    match node:
        case Attribute(Name()) | Compare("is" | "is not"):
            return
        case Name(name):
            if name in known:
                yield is_data
        case Call(_, args, kwargs):
            given: list[tuple[int | str, Node]] = [*enumerate(args), *kwargs]
            for place, value in given:
                taken = is_data or _is_data_of_call(node, place, table, above)
                yield from _reads(value, known, table, above, taken)
        case Subscript(value, index):
            yield from _reads(value, known, table, above, is_data)
            if isinstance(index, Name | Call | Binary):  # a place, or an array of them
                yield from _reads(index, known, table, above, True)
        case _:
            for child in children(node):
                yield from _reads(child, known, table, above, is_data)


def _is_data_of_call(call: Call, place: int | str, table: Table, above: frozenset[str]) -> bool:
    count = len(call.args) + len(call.kwargs)
    overloads = (o for o in table.overloads(call.function) if len(o.signature.params) >= count)
    taken = [(op, found) for op in overloads if (found := _taken(op, place))]
    return bool(taken) and all(_takes_data(op, param, table, above) for op, param in taken)


def _taken(op: OpSpec, place: int | str) -> Param | None:
    """The argument that an op takes by a position or keyword."""
    if isinstance(place, int):
        positional = [p for p in op.signature.params if not p.keyword_only]
        return positional[place] if place < len(positional) else None
    return next((p for p in op.signature.params if p.name == place), None)


def _takes_data(op: OpSpec, param: Param, table: Table, above: frozenset[str]) -> bool:
    if not param.type.is_tensor:
        return False
    if op.composite is not None:
        return _is_passed_on(op, param.name, table, above)
    return isinstance(op.rule(param.name), NonDifferentiable) or not op.differentiable_outputs

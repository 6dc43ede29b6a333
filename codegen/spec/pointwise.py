"""Find the ops all of whose formulas compute element by element, rules and called ops included.

What such an op does with an element depends on nothing but the elements that are broadcast to its
place, so that the points where it is special need not be tried in tensors of many shapes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from ..ir.nodes import Attribute, Binary, Call, Node, Subscript
from ..ir.walk import walk
from .model import Formula, OpSpec, Table
from .primitives import code_facts, primitives

_PLAIN = frozenset({"float", "int", "is_complex"})
"""The helpers that tell nothing of shapes."""


def with_pointwise(table: Table, base: Table | None) -> Table:
    """The table with `is_pointwise` of each op, which may build on another table."""
    known = _pointwise(table, base)
    ops = (dataclasses.replace(op, is_pointwise=op.name in known) for op in table.ops)
    return Table(tuple(ops))


def _pointwise(table: Table, base: Table | None) -> set[str]:
    """The names of the ops of both tables that are; of those that call each other all, or none."""
    ops = [*table.ops, *(base.ops if base is not None else ())]
    called = {op.name: _called(op, takes_kernels=base is None) for op in ops}
    found = {name for name, functions in called.items() if functions is not None}
    while True:
        others = {op.signature.name for op in ops if op.name not in found}
        functions = {op.signature.name for op in ops}
        kept = {
            name
            for name in found
            if all(f in functions and f not in others for f in called[name] or ())
        }
        if kept == found:
            return found
        found = kept


def _called(op: OpSpec, *, takes_kernels: bool) -> set[str] | None:
    """The ops that the formulas call; None where a part does not compute element by element.

    A kernel of the library is compared with the definition, which stands for it here.
    """
    if op.definition is None or (op.kernel is not None and not takes_kernels):
        return None
    if any(p.type.is_list or p.type.is_optional for p in op.signature.tensor_params):
        return None
    found: set[str] = set()
    for node in _nodes(_formulas(op)):
        match node:
            case Binary("@") | Subscript() | Attribute():
                return None
            case Call(function) if not _is_pointwise_function(function):
                found.add(function)
    return found


def _is_pointwise_function(function: str) -> bool:
    known = primitives().get(function)
    is_elementwise = known is not None and known.is_elementwise
    return is_elementwise or function in _PLAIN or function in code_facts().pointwise


def _formulas(op: OpSpec) -> Iterator[Formula]:
    rules = [op.definition, *(rule for _, rule in op.vjps), *(rule for _, rule in op.jvps)]
    yield from (rule for rule in rules if isinstance(rule, Formula))


def _nodes(formulas: Iterable[Formula]) -> Iterator[Node]:
    for formula in formulas:
        yield from walk(formula.block)

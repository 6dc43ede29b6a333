"""Find ops that are elementwise: by what their entries declare, by definition, by all formulas."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from ..ir.nodes import Attribute, Binary, Call, Node, Subscript
from ..ir.walk import walk
from .data_arguments import is_data
from .model import AutoElementwise, Formula, OpSpec, Table
from .primitives import code_facts, primitives
from .vocabulary import HELPERS

_PLAIN = frozenset({"float", "int", "is_complex"})
"""The helpers that tell nothing of shapes."""


def is_elementwise(op: OpSpec) -> bool:
    """Return whether an entry says that its op works on each element alone.

    Breakpoints are points of one element then.
    """
    if op.forward is None:
        return False
    if any(isinstance(rule, AutoElementwise) for _, rule in op.jvps):
        return True
    others = (p.type.base for p in op.signature.params if p.type.base != "Tensor")
    return bool(op.kinks) or (bool(op.promotes) and all(base == "Scalar" for base in others))


def is_elementwise_definition(op: OpSpec, table: Table) -> bool:
    """Return whether each element is computed from those that are broadcast to its place.

    The generated code must also be told so: by `promotes` where there are several arguments.
    """
    tensors = [p.name for p in op.signature.tensor_params]
    formula = op.forward
    if formula is None or len(op.signature.outputs) > 1:
        return False
    if len(tensors) > 1 and not {*tensors} <= {*op.promotes}:
        return False
    if any(p.type.is_list or p.type.is_optional for p in op.signature.tensor_params):
        return False
    if any(is_data(op, name, table) for name in tensors):  # which are neither promoted nor numbers
        return False
    return all(_is_elementwise(node, table) for node in walk(formula.block))


def _is_elementwise(node: Node, table: Table, above: frozenset[str] = frozenset()) -> bool:
    """Return whether a part of a formula computes element by element, as far as it computes.

    `above` names the composites that the part belongs to: overloads of a name may call others.
    """
    match node:
        case Binary("@") | Subscript() | Attribute():
            return False
        case Call(function, args):
            return function in HELPERS or is_elementwise_call(function, len(args), table, above)
    return True


def is_elementwise_call(
    function: str, count: int, table: Table, above: frozenset[str] = frozenset()
) -> bool:
    """Return whether a function with that number of arguments computes element by element."""
    if "." in function:
        known = primitives().get(function)
        is_known = known is not None and known.is_elementwise
        return is_known or function in code_facts().pointwise
    ops = [op for op in table.overloads(function) if len(op.signature.params) >= count]
    alike = [is_elementwise_op(op, table, above) for op in ops]
    return bool(alike) and all(alike)


def is_elementwise_op(op: OpSpec, table: Table, above: frozenset[str] = frozenset()) -> bool:
    """Return whether an op is elementwise; a composite is if all that it calls are."""
    if op.composite is None:
        return is_elementwise(op)
    if op.name in above:
        return False
    return all(_is_elementwise(n, table, above | {op.name}) for n in walk(op.composite.block))


def with_pointwise(table: Table, base: Table | None) -> Table:
    """The table with `is_pointwise` of each op, which may build on another table.

    What such an op does with an element depends on nothing but the elements that are broadcast to
    its place, so that points where it is special need not be tried in tensors of many shapes.
    """
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

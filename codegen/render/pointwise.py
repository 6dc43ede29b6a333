"""Choose the forwards that are elementwise."""

from __future__ import annotations

from ..ir import nodes as ir
from ..ir.walk import walk
from ..spec.model import OpSpec
from ..spec.primitives import code_facts, primitives


def is_pointwise(op: OpSpec) -> bool:
    """Return whether a forward is one expression of elementwise functions."""
    expression = None if op.implementation is None else op.implementation.block.expression
    return expression is not None and not any(map(_looks_further, walk(expression)))


def _looks_further(node: ir.Node) -> bool:
    """Return whether this part of a formula may read more than one element of an array."""
    match node:
        case ir.Call(function):
            if function in code_facts().pointwise:
                return False
            known = primitives().get(function)
            return known is None or not known.is_elementwise
        case ir.Binary(op):
            return op == "@"
        case ir.Attribute() | ir.Subscript() | ir.Slice() | ir.Sequence():
            return True
    return False

"""Results of `forward` for PyTorch: new tensors, neither arguments nor views.

PyTorch keeps no rule of an `autograd.Function` for an argument that comes back. Of a view, even of
a value without another reference, it wants tangents with the same strides, and refuses to change it
in place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from ..ir import nodes as ir
from ..ir.walk import assigned_names, walk
from ..spec.model import Formula, OpSpec, Table

OWN = "?no_view"
"""The call of the function that makes a tensor which is no view, and copies nothing."""

_UNCHANGED = frozenset(
    ["alias", "positive", "conj", "_conj", "_conj_physical", "_to_copy", "_sum_to_size"]
)
"""Functions that answer their argument itself where there is nothing to do."""

_PARTS = frozenset({"real", "imag"})
"""Views of numbers in pairs, whose strides PyTorch does not take of a tangent."""


class Results:
    """The results of one definition."""

    def __init__(self, op: OpSpec, definition: Formula, table: Table) -> None:
        self._returns_view = op.signature.view_of is not None
        self._tensors = {p.name for p in op.signature.tensor_params if not p.type.is_list}
        self._views = {o.signature.name for o in table.ops if o.signature.view_of is not None}
        block = definition.block
        local = assigned_names(block)
        self._same: set[str] = set()
        """The locals that may be arguments, unchanged."""
        self._shown: set[str] = set()
        """The locals that may be views."""
        for statement in walk(block):
            if not isinstance(statement, ir.Assign):
                continue
            value, targets = statement.value, set(statement.targets)
            read = {n.id for n in walk(value) if isinstance(n, ir.Name)} - local
            if len(targets) == 1 and _may_be_argument(value, self._same | read):
                self._same |= targets
            if self._may_be_view(value):
                self._shown |= targets

    def own(self, value: ir.Expr) -> ir.Expr:
        """A result that is no argument, and no view."""
        match value:
            case ir.Conditional(_, then, otherwise):
                then, otherwise = self.own(then), self.own(otherwise)
                return dataclasses.replace(value, then=then, otherwise=otherwise)
            case ir.Sequence(items):
                return dataclasses.replace(value, items=tuple(map(self.own, items)))
        is_tensor = isinstance(value, ir.Name) and value.id in self._tensors
        if is_tensor or _may_be_argument(value, self._same) or self._returns_view:
            return ir.Call("clone", (value,), span=value.span)
        if self._may_be_view(value):
            return ir.Call(OWN, (value,), span=value.span)
        return value

    def _may_be_view(self, value: ir.Expr) -> bool:
        match value:
            case ir.Name(name):
                return name in self._shown
            case ir.Conditional(_, then, otherwise):
                return self._may_be_view(then) or self._may_be_view(otherwise)
            case ir.Subscript():
                return True
            case ir.Call(function):
                return function in self._views
        return False


def _may_be_argument(value: ir.Expr, same: Collection[str]) -> bool:
    """Return whether an expression may be an argument itself, or one of these locals."""
    match value:
        case ir.Name(name):
            return name in same
        case ir.Conditional(_, then, otherwise):
            return _may_be_argument(then, same) or _may_be_argument(otherwise, same)
        case ir.Call(function) if function in _PARTS:
            return True
        case ir.Call(function, (first, *_)) if function in _UNCHANGED:
            return isinstance(first, ir.Name) or _may_be_argument(first, same)
    return False

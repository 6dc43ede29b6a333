"""The subjects of a sweep: elementwise ops, for each choice of their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..ir.walk import calls
from ..prove.inputs.draw import examples_of
from ..spec.elementwise import is_elementwise, is_elementwise_definition, is_elementwise_op
from ..spec.model import OpSpec, Table

MOST_TENSORS = 3

NOT_SWEPT = {
    *("special_airy_ai", "special_bessel_j0", "special_bessel_j1", "special_bessel_y0"),
    *("special_bessel_y1", "special_modified_bessel_k0", "special_modified_bessel_k1"),
    *("special_scaled_modified_bessel_k0", "special_scaled_modified_bessel_k1"),
    *("special_spherical_bessel_j0", "igamma", "igammac", "special_zeta"),
}
"""Ops of gradspec's table whose exact values far out take mpmath minutes."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An op with a value for every argument that is no tensor."""

    op: OpSpec
    settings: tuple[tuple[str, Any], ...] = ()
    """The arguments that differ from their defaults."""

    @property
    def label(self) -> str:
        """`softplus(beta=2, threshold=1)`"""
        settings = ", ".join(f"{name}={value}" for name, value in self.settings)
        return f"{self.op.name}({settings})" if settings else self.op.name

    @property
    def tensors(self) -> tuple[str, ...]:
        """The names of the tensor arguments."""
        return tuple(p.name for p in self.op.signature.tensor_params)

    def arguments(self) -> dict[str, Any]:
        """The arguments that are no tensors, by name."""
        given = dict(self.settings)
        params = (p for p in self.op.signature.params if p.name not in self.tensors)
        return {p.name: given.get(p.name, p.default) for p in params}


def subjects(table: Table, everything: Table) -> Iterator[Subject]:
    """Every subject of a table, in its order; `everything` has the ops that it may call."""
    for op in table.ops:
        if _is_swept(op, everything):
            yield from _settings_of(op)


def reachable(op: OpSpec, table: Table) -> Table:
    """The ops that a definition calls, and those they call, in the order of the table."""
    found: set[str] = set()
    stack = [op]
    while stack:
        definition = stack.pop().definition
        for call in () if definition is None else calls(definition.block):
            new = [each for each in table.overloads(call.function) if each.name not in found]
            found |= {each.name for each in new}
            stack += new
    return Table(tuple(each for each in table.ops if each.name in found))


def _settings_of(op: OpSpec) -> Iterator[Subject]:
    """The op with each choice of numbers that its examples make."""
    defaults = {p.name: p.default for p in op.signature.params}
    tensors = {p.name for p in op.signature.tensor_params}
    seen: set[tuple[tuple[str, Any], ...]] = set()
    for example in examples_of(op):
        settings = tuple(
            (name, value)
            for name, value in example.args
            if name not in tensors and value != defaults[name]
        )
        if settings not in seen:
            seen.add(settings)
            yield Subject(op, settings)


def _is_swept(op: OpSpec, everything: Table) -> bool:
    """Return whether an op that users call computes numbers from the numbers at each place."""
    tensors = op.signature.tensor_params
    if op.is_private or op.name in NOT_SWEPT or not tensors or len(tensors) > MOST_TENSORS:
        return False
    if any(p.type.is_list or p.type.is_optional for p in tensors):
        return False
    if op.output_differentiability and not any(op.output_differentiability):
        return False
    if len(op.signature.outputs) > 1:
        return False
    if op.composite is not None:
        return is_elementwise_op(op, everything)
    if not op.differentiable_params:
        return False
    together = len(tensors) == 1 or {p.name for p in tensors} <= {*op.promotes}
    return together and (is_elementwise(op) or is_elementwise_definition(op, everything))

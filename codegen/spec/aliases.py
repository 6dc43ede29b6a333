"""Formulas that call ops by other names: `absolute(self)` is read as `abs(self)`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from ..ir.nodes import Call
from ..ir.walk import calls, with_parts
from .model import Formula, OpSpec, Table

_R = TypeVar("_R")


def with_base_names(table: Table, base: Table | None = None) -> Table:
    """The table with every op called by its base name, so that no later step knows aliases."""
    everything = (*(base.ops if base else ()), *table.ops)
    own = {op.signature.name for op in everything}
    names = {
        alias: op.signature.name for op in everything for alias in op.aliases if alias not in own
    }
    return Table(tuple(_renamed_op(op, names) for op in table.ops))


def _renamed_op(op: OpSpec, names: Mapping[str, str]) -> OpSpec:
    return dataclasses.replace(
        op,
        forward=_renamed(op.forward, names),
        kernel=_renamed(op.kernel, names),
        composite=_renamed(op.composite, names),
        vjps=tuple((args, _renamed(rule, names)) for args, rule in op.vjps),
        jvps=tuple((output, _renamed(rule, names)) for output, rule in op.jvps),
    )


def _renamed(rule: _R, names: Mapping[str, str]) -> _R:
    if not isinstance(rule, Formula) or not any(c.function in names for c in calls(rule.block)):
        return rule
    return dataclasses.replace(rule, block=_called(rule.block, names))


def _called(node: Any, names: Mapping[str, str]) -> Any:
    node = with_parts(node, lambda part: _called(part, names))
    if isinstance(node, Call) and node.function in names:
        return dataclasses.replace(node, function=names[node.function])
    return node

"""Rules on tensors, whose branches of `where` are computed where they are not taken as well."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from ..ir.nodes import Block, Call
from ..ir.walk import assignments
from ..render.masked import with_slopes
from ..render.resolve import Kind, Resolver
from ..spec.model import Formula


def with_safe_branches(
    formula: Formula, kinds: Mapping[str, Kind], linear: Iterable[str], resolver: Resolver
) -> Formula:
    """A rule that has a derivative wherever that of the branch which is taken has one.

    Left alone are the names that it is `linear` in, gradients and tangents, and locals that the
    author has chosen by a `where`.
    """
    tensors = {name for name, kind in kinds.items() if kind == "tensor"} - {*linear}
    for made in assignments(formula.block):
        is_chosen = isinstance(made.value, Call) and made.value.function == "where"
        if not is_chosen and resolver.kind(made.value, kinds) == "tensor":
            tensors |= {*made.targets}
    block: Block = with_slopes(formula.block, tensors, resolver.table)
    return formula if block == formula.block else dataclasses.replace(formula, block=block)

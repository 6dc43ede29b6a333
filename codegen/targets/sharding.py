"""Ways to split a whole op among devices, by its batching rules.

A batching rule that is proved says that the op, called on stacked examples, gives the stacked
results. So it says that examples may be computed apart: on several devices.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..prove.report.lock import Entry
from ..spec.model import OpSpec
from .naming import Naming
from .renderer import sibling

SHARDING = "_sharding"
"""The module of a package in which the ways are registered."""

_PLAIN = ("align", "lead")
"""Rules by which the examples are dimensions in front, and the other arguments are as they are."""


@dataclass(frozen=True, slots=True)
class ShardedOp:
    """One op that PyTorch takes for a whole, as the template tells DTensor of it."""

    module: str
    function: str
    """Names that are registered, in its module."""
    definition: str
    """The class that computes it by its formula."""
    examples: tuple[tuple[int, ...], ...]
    """For each rule the arguments that hold examples, by position; none stands for all tensors."""


def sharded_op(op: OpSpec, naming: Naming, entry: Entry | None) -> ShardedOp:
    """An op with what its batching rules say; where there is none it is not split."""
    params = op.signature.params
    rules = entry.batching.rules if entry is not None and entry.batching is not None else ()
    found = []
    for rule in rules:
        kind, *names = rule.split()
        if kind in _PLAIN and not any(":" in name or name == "several" for name in names):
            found.append(tuple(n for n, p in enumerate(params) if p.public in names))
    return ShardedOp(
        sibling(op.family),
        f"{naming.function(op)}__op",
        f"{naming.class_name(op)}_Reverse",
        tuple(found),
    )

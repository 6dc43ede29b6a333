"""Sines and cosines of the same numbers, computed together for a block of points.

A derivative wants the cosine of what a function takes the sine of, and the other way round; both
together cost little more than one. A loop with such pairs is written as stages, each a loop over
the points of a block; before it the pairs are computed whose angles are known by then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ..program import Value
from .groups import FULL, Nest, Placed, access_in
from .layout import Access
from .operations import Map, Reduce
from .scalars import DType

BLOCK: Final = 64
"""Points of a block: what is kept for them stays in the processor's first cache."""

_SINES: Final = ("gs_sin({0})", "gs_sinf({0})")
_COSINES: Final = ("gs_cos({0})", "gs_cosf({0})")


@dataclass(eq=False)
class Pair:
    """A sine and a cosine of the same numbers."""

    number: int
    first: Placed
    """The one that comes first in the order of the program."""
    sine: Placed
    cosine: Placed

    @property
    def dtype(self) -> DType:
        """The dtype of the angles and of both results."""
        assert isinstance(self.sine.operation, Map)
        return self.sine.operation.dtype

    @property
    def blocks(self) -> tuple[str, str, str]:
        """The names of the arrays for the angles, the sines and the cosines of a block."""
        return f"angles{self.number}", f"sines{self.number}", f"cosines{self.number}"

    def block_of(self, operation: Map | Reduce) -> str:
        """Return the name of the array that has the results of one of both."""
        return self.blocks[1 if operation is self.sine.operation else 2]


@dataclass
class Stage:
    """Operations that share a loop over a block."""

    ready: list[Pair] = field(default_factory=list)
    """The pairs that are computed before it."""
    placed: list[Placed] = field(default_factory=list)
    reads: dict[Value, None] = field(default_factory=dict)
    """Results of earlier stages."""
    angles: list[Pair] = field(default_factory=list)
    """The pairs whose angles it puts down."""


@dataclass
class Stages:
    """A loop in stages."""

    stages: list[Stage]
    pairs: dict[Map | Reduce, Pair]
    """The pair of each operation that has one."""
    kept: dict[Value, None]
    """Value that one stage makes and another one reads."""


def staged(loop: list[Placed], nest: Nest) -> Stages | None:
    """Return a loop in stages; None without pairs, or where memory is read before it is written."""
    pairs = _pairs(loop, nest)
    if not pairs:
        return None
    here = {placed.operation for placed in loop}
    stages, kept = [Stage()], dict[Value, None]()
    stage_of: dict[Map | Reduce, Stage] = {}
    known: set[Pair] = set()
    for placed in loop:
        operation = placed.operation
        reader: Stage | None = stages[-1]
        pair = pairs.get(operation)
        if pair in known:
            reader = None
        elif pair is not None:  # its angles are put down by the stage before
            known.add(pair)
            stages[-1].angles.append(pair)
            stages.append(Stage(ready=[pair]))
        stages[-1].placed.append(placed)
        for value in operation.reads:
            maker = nest.makers.get(value)
            if maker is None or maker.operation not in here or maker is placed:
                continue
            if maker.operation not in stage_of:
                return None
            if reader is not None and stage_of[maker.operation] is not reader:
                reader.reads[value] = kept[value] = None
        stage_of[operation] = stages[-1]
    return Stages(stages, pairs, kept)


def _pairs(loop: list[Placed], nest: Nest) -> dict[Map | Reduce, Pair]:
    """Return the pair of each sine and cosine in a loop of whose angles it has both."""
    found: dict[tuple[Access, DType], dict[str, Placed]] = {}
    for placed in loop:
        operation = placed.operation
        if placed.level != FULL or not isinstance(operation, Map):
            continue
        read = operation.operands[0].access
        if read is not None and operation.formula in (*_SINES, *_COSINES):
            key = Access(read.root, read.offset, access_in(nest, placed, read)), operation.dtype
            kind = "sine" if operation.formula in _SINES else "cosine"
            found.setdefault(key, {}).setdefault(kind, placed)
    pairs: dict[Map | Reduce, Pair] = {}
    for both in found.values():
        if len(both) == 2:
            first = next(iter(both.values()))
            pair = Pair(len(pairs) // 2, first, both["sine"], both["cosine"])
            pairs[pair.sine.operation] = pairs[pair.cosine.operation] = pair
    return pairs

"""Questions for libraries: calls of ops along a line, with the exact derivatives along it.

Every question is about a function of one number. Of an elementwise op it is `op(x + t)` at many
points at once; of any other op the weighted sum of its outputs, with `x + t * v` for arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..prove.identities.run import Leaf

Array: TypeAlias = np.ndarray[Any, Any]

GENERIC = "generic"
"""The kind of a point at which nothing is special."""
SPECIAL = "special"
"""The kind of a point on a border: a zero, a tie, a singular matrix, an end of a domain."""
TRIANGLE = "triangle"
"""The kind of a line that leaves the matrices for which an op is meant."""
EXTREME = "extreme"
"""The kind of a point far out, or next to a special one."""


@dataclass(frozen=True, slots=True)
class Question:
    """One call of an op, and what its derivatives along a line are."""

    op: str
    arguments: Mapping[str, Any]
    """Arrays, lists of arrays and plain values, by parameter; what is not here has its default."""
    tangents: Mapping[Leaf, Array]
    """The direction in which each argument moves; the others are constant."""
    cotangents: tuple[tuple[int, str, Array], ...]
    """`(place of the output, its name, its weights)`"""
    kind: str
    where: str
    """Words for the point: `two zeros`."""
    value: float
    exact: tuple[float, float]
    """The first and the second derivative."""
    digits: int
    """The number of digits to which these are known: 16 where no symbols can pass."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """An elementwise op along one direction, at many points."""

    op: str
    settings: Mapping[str, Any]
    """The arguments that are no tensors."""
    columns: Mapping[str, Array]
    """The points, by argument."""
    direction: Mapping[str, int]
    """Rate at which each argument moves."""
    kinds: tuple[str, ...]
    values: Array
    exact: tuple[Array, Array]
    """First and second derivatives; nan where there is none."""
    scales: tuple[Array, Array]
    """The sizes that errors are relative to."""
    ours: tuple[Array, Array]
    """Answers of gradspec, to compare conventions at kinks."""
    excused: tuple[Array, Array]
    """Points where the entry says that digits are lost, or gradspec loses them."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The questions about one op, and why there are not more."""

    op: str
    questions: tuple[Question, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    problems: tuple[str, ...] = ()
    disagreements: tuple[str, ...] = ()
    """Points where modes of gradspec itself differ at 50 digits."""


def order_of(mode: str) -> int:
    """The number of derivatives that a mode takes."""
    return 2 if "∘" in mode else 1

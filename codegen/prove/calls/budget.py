"""Bounds of the numbers of calls of an op that are judged, of every kind."""

from __future__ import annotations

from ...ir.walk import measure
from ...spec.model import OpSpec
from ..symbolic.special_values import formulas

MOST_STRUCTURES = 120
"""Number of calls near the examples, flags and numbers among them."""

MOST_SPECIAL = 8
"""Number of calls, the examples first, that are judged at all special points."""

MOST_SPECIAL_OF_ELEMENTS = 1
"""The same where every formula computes element by element: what is wrong at an element is wrong
beside any others, and in tensors of any shape."""

MOST_OF_OTHERS = 3
"""Number of special points of a call that differs from an example in a flag or a number."""

FEWEST_SPECIAL = 24
"""Least number of special points of each call that takes conditions in a new way."""

MOST_PATHS = 16
"""Number of ways through the conditions whose calls are tried everywhere: at special points, and
with complex numbers. What is wrong in one branch need not be seen in another."""

MOST_ON_PATHS = 120
"""Number of calls with other flags and numbers, and of special points, for all of these ways."""

MOST_TURNED = 60
"""The most calls that are judged of the one whose extents are turned round."""

MOST_USUAL = 0.7
"""The part of the calls that are judged at usual points; the others are left for special ones."""

MOST_TOGETHER = 48
"""Number of calls that take conditions together in a new way, judged beside all others."""

MOST_EXCLUDED = 4
"""Number of calls that `requires` excludes of which calls are made that it allows."""

MOST_FARTHER = 2000
"""Number of calls that are tried to take a condition the other way."""

FARTHER_FOR_HELPERS = 400
"""Number for those of helpers alone: what a rule gives them may leave one way only."""

MOST_OF_THIRD_ORDER = 8
"""Calls with flags, numbers and texts of their own at which third derivatives are compared."""

MOST_CALLS = 800
"""Number of calls of an op that are judged; those that tell most come first."""

FEWEST_CALLS = 150
"""Number that is judged even where the formulas are long."""

NODES = 60_000
"""Nodes of formulas, times the calls that are judged: counted, so that every machine and every
run goes through the same calls."""


def most_calls(spec: OpSpec) -> int:
    """The number of calls of an op to judge: fewer where its formulas are long."""
    nodes = sum(measure(block)[0] for block in formulas(spec))
    return max(FEWEST_CALLS, min(MOST_CALLS, NODES // max(nodes, 1)))

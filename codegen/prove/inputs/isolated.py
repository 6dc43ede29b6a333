"""Single points that a rule sets apart, as `where(self == 3, ...)` does.

A test for equality cuts out no chamber, since nearly all points come out alike. So the points where
one holds are gone to: where an op is smooth, its derivatives there are those of both sides.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice, takewhile

import sympy

from ...spec.model import OpSpec
from ..identities.identity import Identity, identities
from ..identities.run import Run, execute
from ..numeric.evaluate import Point, is_nan
from ..symbolic.decisions import ProofError
from ..symbolic.derivatives import Derivatives
from .borders import at_border

MOST_POINTS = 6
"""Number of them that are examined in an example."""

_STEP = sympy.Rational(1, 10**6)


def isolated_identities(spec: OpSpec, run: Run) -> Iterator[tuple[Run, Identity]]:
    """Yield the first derivatives' identities where an equality holds that `run` asked about."""
    sites = (decision.difference for decision in run.decisions if not decision.branches)
    points = ((site, point) for site in sites for point in at_border(site, run.point))
    for site, point in islice(points, MOST_POINTS):
        values = run.point.values
        changed = {s: point.values[s] for s in values if point.values[s] != values[s]}
        moved = next(iter(changed))
        sides = [point.moved({moved: point.values[moved] + step}) for step in (_STEP, -_STEP)]
        if not all(map(run.inputs.allows, (point, *sides))):
            continue
        try:
            here, above, below = (_run_at(spec, run, place) for place in (point, *sides))
        except ProofError:
            continue  # the op or its gradient is not defined there
        for identity in _agreeing(here, above, below, changed):
            yield here, replace(identity, label=f"{identity.label} where {site} == 0")


def _run_at(spec: OpSpec, run: Run, point: Point) -> Run:
    rng = random.Random(spec.name)
    return execute(spec, run.inputs, point, partial(run.inputs.complete, point, rng), tie=True)


def _agreeing(
    here: Run, above: Run, below: Run, at: dict[sympy.Symbol, sympy.Rational]
) -> Iterator[Identity]:
    """Pair what was found here with what is expected on both sides, if that is the same."""
    found = _first_order(here)
    one_side, other_side = _first_order(above), _first_order(below)
    for label in found.keys() & one_side.keys() & other_side.keys():
        expected, other = (side[label].expected.xreplace(at) for side in (one_side, other_side))
        if is_nan(here.point.value(expected)) or is_nan(here.point.value(other)):
            continue
        if here.point.sign(expected - other) != 0:
            continue
        yield Identity(label, found[label].key, found[label].got.xreplace(at), expected)


def _first_order(run: Run) -> dict[str, Identity]:
    first = takewhile(lambda i: i.label.startswith(("VJP", "JVP")), identities(run, Derivatives()))
    return {identity.label: identity for identity in first}

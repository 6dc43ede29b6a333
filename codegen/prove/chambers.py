"""Visits the pieces of a piecewise op: witnesses until every comparison came out both ways."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import sympy

from ..spec.model import OpSpec
from .decisions import Decision
from .evaluate import Point
from .inputs import Inputs
from .run import Run, execute

MAX_RUNS = 24
_ATTEMPTS = 3
_TRIES_PER_OUTCOME = 60


class Chambers:
    """The runs of one example, one for each new outcome of a comparison."""

    def __init__(self, spec: OpSpec, inputs: Inputs, rng: random.Random) -> None:
        self._spec = spec
        self._inputs = inputs
        self._rng = rng
        self._seen: dict[sympy.Expr, set[bool]] = {}
        self._seen_at: dict[sympy.Expr, list[tuple[Point, tuple[Decision, ...]]]] = {}
        """Where a comparison was made: the witnesses, and the decisions before it."""

    def runs(self) -> Iterator[Run]:
        """Runs that made a decision that none before made; at least one."""
        point = self._inputs.draw(self._rng)
        run = self._execute(point)
        self._note(run)
        yield run
        attempts: Counter[sympy.Expr] = Counter()
        for _ in range(MAX_RUNS - 1):
            missing = [site for site in self._missing() if attempts[site] < _ATTEMPTS]
            if not missing:
                return
            site = missing[0]
            attempts[site] += 1
            found = self._other_side(site)
            if found is not None:
                run = self._execute(found)
                if self._note(run):
                    yield run

    def unvisited(self) -> list[str]:
        """The outcomes that were never seen, as conditions."""
        return [f"{site} {'<' if True in self._seen[site] else '>'} 0" for site in self._missing()]

    def _execute(self, point: Point) -> Run:
        def complete() -> None:
            missing = [s for s in self._inputs.symbols if s not in point.values]
            drawn = self._inputs.redraw(Point({}), missing, self._rng)
            point.values.update(drawn.values)

        return execute(self._spec, self._inputs, point, complete)

    def _note(self, run: Run) -> bool:
        """Remember the outcomes of a run; whether any was new."""
        new = False
        for number, decision in enumerate(run.decisions):
            if decision.branches:
                outcomes = self._seen.setdefault(decision.difference, set())
                if decision.positive not in outcomes:
                    outcomes.add(decision.positive)
                    new = True
                places = self._seen_at.setdefault(decision.difference, [])
                places.append((run.point, run.decisions[:number]))
        return new

    def _missing(self) -> list[sympy.Expr]:
        return [site for site, outcomes in self._seen.items() if len(outcomes) == 1]

    def _other_side(self, site: sympy.Expr) -> Point | None:
        """A point at which a comparison comes out the other way, and those before it do not.

        So the op takes the same path to it. If there is no such point, any path will do.
        """
        wanted = Decision(site, True not in self._seen[site], branches=True)
        symbols = sorted(site.free_symbols, key=str)
        otherwise = None
        for _ in range(_TRIES_PER_OUTCOME):
            base, before = self._rng.choice(self._seen_at[site])
            some = [s for s in symbols if self._rng.random() < 0.5] or [self._rng.choice(symbols)]
            point = self._inputs.redraw(base, some, self._rng)
            if wanted.holds(point) and self._inputs.allows(point):
                if all(decision.holds(point) for decision in before):
                    return point
                otherwise = otherwise or point
        return otherwise

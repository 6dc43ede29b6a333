"""Visits the pieces of a piecewise op: one witness for every chamber that comparisons cut out.

Comparisons that share symbols belong together. Where they are few, every combination of their
outcomes that has a point is looked for, also narrow ones, at and between the places where they
change; where they are many, as in a sort, each is seen both ways at least. Outcomes of two groups
that share no symbols are seen together in up to six more runs: all of them where groups are few.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice, permutations
from typing import Any, TypeAlias

import sympy

from ...spec.model import OpSpec
from ..identities.run import Run, execute
from ..numeric.evaluate import Point
from ..symbolic.decisions import Decision, ProofError
from .borders import at_border, between_borders
from .draw import Inputs

MAX_RUNS = 24
MAX_COMBINED = 5
"""Number of comparisons of the same symbols that are combined in all ways."""

MAX_PAIRED = 6
"""Number of runs to see outcomes of two groups together."""

MAX_TIES = 6
"""Number of walls between chambers that are examined in an example."""

_TRIES = 60
_DRAWS = 8


_Outcome: TypeAlias = tuple[int, ...]
_Pair: TypeAlias = tuple[int, _Outcome, int, _Outcome]
"""Two groups, by number, with an outcome of each."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Comparisons that share symbols, directly or through others, with no others."""

    sites: tuple[sympy.Expr, ...]
    symbols: tuple[sympy.Symbol, ...]

    def outcomes(self, point: Point) -> _Outcome:
        """Evaluate them at a point."""
        return tuple(point.sign(site) for site in self.sites)


class Chambers:
    """The runs of one example, one for each new outcome of comparisons."""

    def __init__(self, spec: OpSpec, inputs: Inputs, rng: random.Random) -> None:
        self._spec = spec
        self._inputs = inputs
        self._rng = rng
        self._chambers: list[tuple[Point, tuple[Decision, ...]]] = []
        self._seen: dict[sympy.Expr, set[bool]] = {}
        self._made_at: dict[sympy.Expr, list[tuple[Point, tuple[Decision, ...]]]] = {}
        """Points at which each comparison was made: the witnesses, and the decisions before it."""

    def runs(self) -> Iterator[Run]:
        """A run for each chamber that was found; at least one."""
        run = self._first()
        self._note(run)
        yield run
        paired = 0
        for _ in range(MAX_RUNS - 1):
            point = self._next_point()
            if point is None and paired < MAX_PAIRED:
                point = self._unpaired()
                paired += 1
            if point is None:
                return
            run = self._inside(point)
            self._note(run)
            yield run

    def _first(self) -> Run:
        """A run inside of a chamber: numbers such as whole ones are borders of some ops."""
        run = self._execute(self._inputs.draw(self._rng))
        for _ in range(_DRAWS - 1):
            if not run.is_on_border:
                break
            run = self._execute(self._inputs.draw(self._rng))
        return run

    def _inside(self, point: Point) -> Run:
        """A run at a point, or beside it where it turns out to lie on a border of something new."""
        run = self._execute(point)
        for part in range(2, _DRAWS):
            if not run.is_on_border:
                break
            step = sympy.Rational(1, part**4)
            moved = point.moved({s: value + step for s, value in point.values.items()})
            same = all(moved.sign(site) == point.sign(site) for site in self._seen)
            if same and self._inputs.allows(moved):
                run = self._execute(moved)
        return run

    def ties(self) -> Iterator[tuple[str, Run]]:
        """Runs at points where the two sides of a comparison are equal, with the comparison.

        They lie on the walls of the chambers that were visited: nothing else changes there.
        """
        walls = ((site, point) for chamber in self._chambers for site, point in _walls(*chamber))
        for site, point in islice(walls, MAX_TIES):
            if self._inputs.allows(point):
                try:
                    run = self._execute(point, tie=True)
                except ProofError:  # something else has no answer there
                    continue
                yield f"{site} == 0", run

    def unvisited(self) -> list[str]:
        """The outcomes that were never seen, as conditions."""
        return [
            f"{site} {'<' if True in outcomes else '>'} 0"
            for site, outcomes in self._seen.items()
            if len(outcomes) == 1
        ]

    def _execute(self, point: Point, *, tie: bool = False) -> Run:
        complete = partial(self._inputs.complete, point, self._rng)
        return execute(self._spec, self._inputs, point, complete, tie=tie)

    def _note(self, run: Run) -> None:
        self._chambers.append((run.point, run.decisions))
        for number, decision in enumerate(run.decisions):
            if decision.branches:
                site = decision.difference
                self._seen.setdefault(site, set()).add(decision.positive)
                self._made_at.setdefault(site, []).append((run.point, run.decisions[:number]))

    def _next_point(self) -> Point | None:
        """A point that is new to as many groups as the domain lets move at a time."""
        base = point = self._chambers[-1][0]
        for group in _groups(list(self._seen)):
            found = self._new_to(group, base)
            if found is not None:
                moved = point.moved({symbol: found.values[symbol] for symbol in group.symbols})
                point = moved if self._inputs.allows(moved) else point
        return None if point is base else point

    def _unpaired(self) -> Point | None:
        """A point at which outcomes of two groups meet that were not seen together."""
        groups = _groups(list(self._seen))
        points = [point for point, _ in self._chambers]
        outcomes = [[group.outcomes(point) for point in points] for group in groups]
        met = {
            (one, outcomes[one][k], other, outcomes[other][k])
            for one, other in permutations(range(len(groups)), 2)
            for k in range(len(points))
        }
        taken = _covering(outcomes, met)
        if taken is None:
            return None
        point = points[-1]
        for group, k in zip(groups, taken, strict=True):
            moved = point.moved({symbol: points[k].values[symbol] for symbol in group.symbols})
            point = moved if self._inputs.allows(moved) else point
        found = [group.outcomes(point) for group in groups]
        is_new = any(
            (one, found[one], other, found[other]) not in met
            for one, other in combinations(range(len(groups)), 2)
        )
        return point if is_new else None

    def _new_to(self, group: _Group, base: Point) -> Point | None:
        if len(group.sites) > MAX_COMBINED:
            missing = [site for site in group.sites if len(self._seen[site]) == 1]
            found = (self._other_side(site) for site in missing)
            return next((point for point in found if point is not None), None)
        known = {group.outcomes(point) for point, _ in self._chambers}

        def is_new(point: Point) -> bool:
            found = group.outcomes(point)
            return 0 not in found and found not in known and self._inputs.allows(point)

        if len(known) == 2 ** len(group.sites):
            return None
        return self._at_a_border(group, base, is_new) or self._at_random(group, base, is_new)

    def _at_a_border(
        self, group: _Group, base: Point, is_new: Callable[[Point], bool]
    ) -> Point | None:
        """A new point found by moving one symbol past the places where an outcome changes."""
        for symbol in group.symbols:
            for value in between_borders(group.sites, symbol, base, self._inputs.symbols[symbol]):
                point = base.moved({symbol: value})
                if is_new(point):
                    return point
        return None

    def _at_random(
        self, group: _Group, base: Point, is_new: Callable[[Point], bool]
    ) -> Point | None:
        for _ in range(_TRIES):
            point = self._inputs.redraw(base, self._some(group.symbols), self._rng)
            if is_new(point):
                return point
        return None

    def _other_side(self, site: sympy.Expr) -> Point | None:
        """A point at which a comparison comes out the other way, and those before it do not.

        So the op takes the same path to it. If there is no such point, any path will do.
        """
        wanted = Decision(site, True not in self._seen[site], branches=True)
        symbols = tuple(sorted(site.free_symbols, key=str))
        otherwise = None
        for _ in range(_TRIES):
            base, before = self._rng.choice(self._made_at[site])
            point = self._inputs.redraw(base, self._some(symbols), self._rng)
            if wanted.holds(point) and self._inputs.allows(point):
                if all(decision.holds(point) for decision in before):
                    return point
                otherwise = otherwise or point
        return otherwise

    def _some(self, symbols: tuple[sympy.Symbol, ...]) -> list[sympy.Symbol]:
        return [s for s in symbols if self._rng.random() < 0.5] or [self._rng.choice(symbols)]


def _walls(point: Point, decisions: tuple[Decision, ...]) -> Iterator[tuple[sympy.Expr, Point]]:
    """The comparisons that can be made to tie with all others staying as they are."""
    for decision in decisions:
        for border in at_border(decision.difference, point):
            if all(d is decision or d.holds(border) for d in decisions):
                yield decision.difference, border
                break


def _covering(outcomes: list[list[_Outcome]], met: set[_Pair]) -> list[int] | None:
    """Choose a chamber for each group such that many outcomes meet anew; None if all have met."""
    taken: list[int] = []
    is_new = False
    for group, of_group in enumerate(outcomes):
        rest = [
            (other, outcome)
            for other in range(group + 1, len(outcomes))
            for outcome in {*outcomes[other]}
        ]

        def gain(k: int, of_group: list[_Outcome] = of_group, rest: list[Any] = rest) -> Any:
            here = (len(taken), of_group[k])
            with_taken = sum((n, outcomes[n][c], *here) not in met for n, c in enumerate(taken))
            return with_taken, sum((*here, *other) not in met for other in rest)

        best = max(range(len(of_group)), key=gain)
        is_new |= gain(best)[0] > 0
        taken.append(best)
    return taken if is_new else None


def _groups(sites: list[sympy.Expr]) -> list[_Group]:
    """The sites, sorted into groups that share no symbols."""
    groups: list[tuple[list[sympy.Expr], set[sympy.Symbol]]] = []
    for site in sites:
        merged, symbols = [site], set(site.free_symbols)
        apart = []
        for others, theirs in groups:
            if theirs & symbols:
                merged = others + merged
                symbols |= theirs
            else:
                apart.append((others, theirs))
        groups = [*apart, (merged, symbols)]
    return [_Group(tuple(s), tuple(sorted(symbols, key=str))) for s, symbols in groups]

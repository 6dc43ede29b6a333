"""Calls that take several conditions of the formulas together as none before them did.

A factor that is one unless three conditions hold at once is not seen at calls that take them one
after the other. Which change of an example takes a condition which way is known from the calls
before. These changes are made on top of each other, and whatever takes the conditions together in a
new way is a call to change further.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from ...spec.model import Example, OpSpec
from .branches import Condition, Path
from .data import Args
from .structures import changes

_FEWEST = 2
"""Conditions that do not depend on elements: fewer are not taken together."""

_TRIED = 150
"""Number of calls that are tried for each of these conditions, where formulas are short."""

_MOST_CONDITIONS = 8
"""Number of conditions from which on no further calls are added."""

_MOST_WAYS = 6
"""Changes that are kept for each answer."""

_MOST_CHANGED = 3
"""Arguments that a change may differ in."""


class Together:
    """The ways in which calls took the conditions together, and the changes that led there."""

    def __init__(
        self, spec: OpSpec, examples: tuple[Example, ...], conditions: list[Condition]
    ) -> None:
        self._spec = spec
        self._conditions = conditions
        self._given = [dict(example.args) for example in examples]
        self._rng = random.Random(spec.name)
        self._calls: list[tuple[Args, Path]] = []
        """The first call of each way."""
        self._changes: dict[int, list[list[Args]]] = {}
        """Changes of a known call, by the arguments that they change."""
        self._ways: dict[tuple[int, bool], list[Args]] = {}
        self._seen: set[tuple[str, Path]] = set()
        """For each rule, the ways in which its conditions and those of `forward` were taken."""

    def add(self, args: Args, path: Path) -> None:
        """Keep a call that was judged, by the answers that it gave."""
        if not self.is_new(path):
            return
        self._seen |= self._parts(path)
        self._calls.append((args, path))
        change = min((_change(given, args) for given in self._given), key=len)
        if 0 < len(change) <= _MOST_CHANGED:
            for answer in path:
                ways = self._ways.setdefault(answer, [])
                if len(ways) < _MOST_WAYS and change not in ways:
                    ways.append(change)

    def is_new(self, path: Path) -> bool:
        """Return whether no call before took the conditions of a rule together in this way."""
        return not self._parts(path) <= self._seen

    def _parts(self, path: Path) -> set[tuple[str, Path]]:
        plain = [(n, a) for n, a in path if not self._conditions[n].is_of_elements]
        keys = {self._conditions[n].key for n, _ in plain}
        return {
            (
                key,
                frozenset((n, a) for n, a in plain if self._conditions[n].key in (key, "forward")),
            )
            for key in keys
        }

    def calls(self, part: float) -> Iterator[Args]:
        """Calls to try, each made of one that is known by then; `part` of as many as may be."""
        own = [
            c
            for c in self._conditions
            if not (c.is_taken_over or c.is_of_elements or c.is_of_helper)
        ]
        if len(own) < _FEWEST or not self._calls:
            return
        for _ in range(int(part * _TRIED * min(len(own), _MOST_CONDITIONS))):
            number = max(self._rng.randrange(len(self._calls)) for _ in range(2))  # a late one
            args, path = self._calls[number]
            wanted = sorted(answer for answer in self._ways if answer not in path)
            if wanted and self._rng.random() < 0.3:
                yield args | self._rng.choice(self._ways[self._rng.choice(wanted)])
            elif several := self._changes_of(number):
                names = self._names_to_change(path) if self._rng.random() < 0.7 else frozenset()
                fitting = [group for group in several if not names.isdisjoint(group[0])] or several
                yield args | self._rng.choice(self._rng.choice(fitting))

    def _names_to_change(self, path: Path) -> frozenset[str]:
        """List the names that an answered condition reads; one that lacks an answer comes first."""
        answered = sorted({number for number, _ in path})
        owed = [n for n in answered if self._conditions[n].missing]
        return (
            self._conditions[self._rng.choice(owed or answered)].names if answered else frozenset()
        )

    def _changes_of(self, number: int) -> list[list[Args]]:
        if number not in self._changes:
            by_names: dict[frozenset[str], list[Args]] = {}
            for change in changes(self._spec, self._calls[number][0], self._given):
                by_names.setdefault(frozenset(change), []).append(change)
            self._changes[number] = list(by_names.values())
        return self._changes[number]


def _change(given: Args, args: Args) -> Args:
    """The arguments of a call that differ from those of an example."""
    return {name: value for name, value in args.items() if given.get(name) != value}

"""Findings: what a library answers otherwise than the proved rules, each with a program."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from .grading import Grade

_NEEDED = 2
"""Number of wrong usual points from which a rule is called wrong there."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """One wrong answer, graded by itself."""

    op: str
    function: str
    """Name in the library: `torch.sinc`."""
    mode: str
    grade: Grade
    where: str
    body: str
    """The function of `t` that is differentiated."""
    at: float
    found: float
    exact: float
    by_differences: float | None
    is_shared: bool = False
    """True if gradspec makes the same choice."""
    digits: int = 50
    is_usual: bool = False
    """True if the point is an ordinary one, neither a kink nor a special value."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake of a function in some modes, with a program that shows it in one."""

    op: str
    function: str
    grade: Grade
    modes: tuple[str, ...]
    where: str
    program: str
    found: float
    exact: float
    by_differences: float | None
    count: int
    """The number of wrong answers behind it."""
    is_shared: bool = False
    digits: int = 50
    issues: tuple[str, ...] = field(default=())
    """Published reports of it."""

    def to_json(self) -> dict[str, Any]:
        """Return the finding as JSON data; numbers that JSON lacks are strings."""
        return {
            "op": self.op,
            "function": self.function,
            "grade": str(self.grade),
            "modes": list(self.modes),
            "where": self.where,
            "found": repr(self.found),
            "exact": repr(self.exact),
            "by_differences": None if self.by_differences is None else repr(self.by_differences),
            "digits": self.digits,
            "answers": self.count,
            "shared": self.is_shared,
            "issues": list(self.issues),
            "program": self.program,
        }


def settled(suspicions: Iterable[Suspicion]) -> list[Suspicion]:
    """Grade again with all answers about a function in sight.

    A single usual point is an isolated one; a second counts if differences do not settle there,
    too. What is wrong at usual points is not told again for special ones.
    """
    listed = list(suspicions)
    usual: dict[tuple[str, str], set[tuple[str, float]]] = {}
    confirmed = set()
    for each in listed:
        key = each.function, each.mode
        if each.grade is Grade.STRUCTURAL:
            confirmed.add(key)
        if each.grade is Grade.STRUCTURAL or (each.is_usual and each.grade is Grade.UNCONFIRMED):
            usual.setdefault(key, set()).add((each.body, each.at))
    found = []
    for each in listed:
        key = each.function, each.mode
        is_wrong = key in confirmed and len(usual[key]) >= _NEEDED
        if each.grade is Grade.STRUCTURAL and not is_wrong:
            found.append(replace(each, grade=Grade.BOUNDARY))
        elif each.grade is Grade.STRUCTURAL or not is_wrong:
            found.append(each)
    return found


def grouped(suspicions: Iterable[Suspicion]) -> Iterator[list[Suspicion]]:
    """The suspicions behind each finding, those that are shown best first."""
    groups: dict[tuple[str, Grade, bool], list[Suspicion]] = {}
    for each in suspicions:
        groups.setdefault((each.function, each.grade, each.is_shared), []).append(each)
    order = list(Grade)
    for key in sorted(groups, key=lambda k: (order.index(k[1]), k[0], k[2])):
        yield sorted(groups[key], key=_plainness)


def _plainness(each: Suspicion) -> tuple[float, bool, int, int, str]:
    """Order by how well a program shows a finding: numbers of usual size, a short text."""
    size, is_slight = 0.0, False
    if each.grade is Grade.NUMERICAL:
        size = abs(math.log10(abs(each.exact))) // 24 if each.exact else math.inf
        is_slight = abs(each.found - each.exact) < 0.5 * abs(each.exact)
    return size, is_slight, len(each.body), len(repr(each.at)), each.mode

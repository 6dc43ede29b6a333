"""Groups of a program: the operations that share loops, and why no more do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from ..program import Step, Value
from .memory import MemoryPlan
from .texts import count, names, points, short, where

Kind = Literal["nest", "library", "C", "rounds", "Python", "NumPy"]


@dataclass(frozen=True)
class Work:
    """Part of a group: what it does for a step, all of it or some."""

    step: Step
    makes: tuple[Value, ...]
    when: str = ""
    """In a nest of rows the loop over a row that it is in, `loop 1`, or `each row`."""


@dataclass(frozen=True)
class Apart:
    """The reason for which a group was not joined to earlier ones."""

    groups: range
    """The numbers of these."""
    why: str
    """The reason in a word: a name of `c.groups.Why`."""
    text: str


@dataclass(frozen=True)
class Threads:
    """The threads that run a group, and why there are not more."""

    count: int
    """Threads that it has with the present `gs.get_num_threads()`."""
    pieces: int
    """Pieces that threads take in turns, which no more of them can have; 1 if nothing is shared."""
    why: str
    """The reason in a word: `THREADS` if there are no more of them, `PIECES` if no more pieces, or
    a name of `c.threads.Alone`."""
    text: str

    def __str__(self) -> str:
        return f"{count(self.count, 'thread')}: {self.text}"


@dataclass(frozen=True)
class Group:
    """Operations that run together: a loop nest, or a call."""

    number: int
    """From 1 on, in the order in which groups run."""
    kind: Kind
    title: str
    points: tuple[int, ...]
    """Lengths of the loops of a nest."""
    rows: int
    """The number of these that are over rows; all if nothing is computed for each row."""
    works: tuple[Work, ...]
    reads: tuple[Value, ...]
    """Values that it reads and does not make."""
    makes: tuple[Value, ...]
    threads: Threads
    apart: tuple[Apart, ...] = ()
    body: tuple[Group, ...] = ()
    """The groups of a round, if it is a loop."""
    memory: MemoryPlan | None = None
    """The memory of a round."""

    def lines(self, memory: MemoryPlan, before: str = "") -> list[str]:
        """Return the group as text; `memory` tells where what it makes lies."""
        found = [f"{before}{self.number:>3}  {self.title}"]
        within = f"{before}       "
        if self.body and self.memory is not None:
            for group in self.body:
                found += group.lines(self.memory, f"{before}     ")
        else:
            found += [f"{within}{line}" for line in _work_lines(self.works, memory)]
        if self.reads:
            found.append(f"{within}reads {names(self.reads)}")
        if self.kind != "NumPy" and not self.body:
            found.append(f"{within}{self.threads}")
        if self.apart and self.kind == "nest":
            found.append(f"{within}not joined to {'; '.join(_reasons(self.apart))}")
        return found


def _work_lines(works: Iterable[Work], memory: MemoryPlan) -> list[str]:
    """Return a line for the operations in a row that come from one op, at one place."""
    rows = []
    for (when, op, place), found in groupby(works, _origin):
        here = list(found)
        steps = dict.fromkeys(work.step for work in here)
        functions = _counted(short(step.function) for step in steps)
        made = dict.fromkeys(value for work in here for value in work.makes)
        rows.append((when, op, place, functions + _stored(made, memory)))
    widths = [max([len(row[nr]) for row in rows], default=0) for nr in range(3)]
    lines = []
    for row in rows:
        cells = [f"{row[nr]:<{widths[nr]}}  " for nr in range(3) if widths[nr]]
        lines.append("".join((*cells, row[3])))
    return lines


def _origin(work: Work) -> tuple[str, str, str]:
    place = work.step.place
    return work.when, place.op, where(place)


def _counted(words: Iterable[str]) -> str:
    """Return words in order, each once, with how often it is there."""
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return ", ".join(word if times == 1 else f"{word} ×{times}" for word, times in counts.items())


def _stored(made: Iterable[Value], memory: MemoryPlan) -> str:
    """Return which values are put into memory, and where."""
    kinds: dict[str, list[Value]] = {}
    for value in made:
        storage = memory.by_value.get(value)
        if storage is not None and storage.kind != "register":
            kinds.setdefault(storage.kind, []).append(value)
    if not kinds:
        return ""
    return " → " + ", ".join(f"{names(values)} ({kind})" for kind, values in kinds.items())


def _reasons(apart: Iterable[Apart]) -> list[str]:
    """Return the reasons with the numbers of groups; those without a value are told together."""
    found = []
    for _, run in groupby(apart, lambda each: "" if each.why in _PLAIN else each.text):
        here = list(run)
        first, last = here[0].groups[0], here[-1].groups[-1]
        numbers = str(first) if first == last else f"{first}–{last}"
        found.append(f"{numbers}: {', or '.join(dict.fromkeys(each.text for each in here))}")
    return found


_PLAIN: Final = ("POINTS", "ROWS", "CALL")
"""Reasons that every other group may have."""


def title_of_nest(dims: tuple[int, ...], rows: int) -> str:
    """Return what a nest runs over."""
    if rows == len(dims):
        return f"loop over {points(dims)}"
    return f"loops over {points(dims[:rows], 'row')} of {points(dims[rows:])}"


Seen = tuple[str, tuple[Group, ...], MemoryPlan]
"""Source, groups and memory of a program."""


def groups_lines(groups: tuple[Group, ...], memory: MemoryPlan) -> list[str]:
    """Return groups as text."""
    if not groups:
        return ["Nothing is computed."]
    if any(group.kind != "NumPy" for group in groups):
        return [line for group in groups for line in group.lines(memory)]
    lines = [f"{count(len(groups), 'call')} of NumPy, one for each step"]
    for group in groups:
        if group.body:
            calls = count(len(group.body), "call")
            lines.append(f"{group.number:>3}  {group.title}, which makes {calls}")
    return lines


def memory_lines(groups: tuple[Group, ...], memory: MemoryPlan) -> list[str]:
    """Return the memory of a program as text, and below it that of rounds of its loops."""
    lines = memory.lines()
    for group in groups:
        if group.memory is not None:
            lines.append(f"in a round of group {group.number}:")
            lines += [f"  {line}" for line in memory_lines(group.body, group.memory)]
    return lines

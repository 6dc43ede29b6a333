"""Measurements that `make accuracy` took of the errors of ops, beside other libraries."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parents[1] / "benchmarks" / "accuracy"
SWEEPS, CALLS = _FOLDER / "measured.json", _FOLDER / "calls.json"


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity of one op in one dtype: the worst relative error of each library."""

    quantity: str
    """`forward`, `VJP of self`, `JVP of self`, `second derivative by self, other`"""
    dtype: str
    settings: str
    """The numbers that were given, as in `approximate=tanh`."""
    worst: dict[str, float | None]
    """None for an answer without a right digit; a library that is absent was not measured."""
    bound: float

    @property
    def of(self) -> str:
        """Description of the row, in words."""
        return ", ".join(filter(None, (self.quantity, self.dtype, self.settings)))

    def is_above(self, library: str) -> bool:
        """Return whether a library's worst error is above the bound."""
        worst = self.worst[library]
        return worst is None or worst > self.bound


@dataclass(frozen=True, slots=True)
class Along:
    """The errors of one quantity of one op in one dtype along its first argument."""

    quantity: str
    dtype: str
    settings: str
    letters: dict[str, str]
    """By library: the worst error in each interval, as `benchmarks/accuracy/along.py` writes it."""


@dataclass(frozen=True, slots=True)
class Call:
    """The call of an op that is not elementwise whose errors were measured."""

    text: str
    scaled: str
    """The argument that was multiplied by numbers of all sizes; empty if none was."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The rows of each op, by its name, and with what they were measured."""

    rows: dict[str, list[Row]] = field(default_factory=dict)
    along: dict[str, list[Along]] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    """Reason why nothing was measured."""
    facts: dict[str, dict[str, str]] = field(default_factory=dict)
    """The date, and the versions of the libraries."""


def libraries(rows: Iterable[Row]) -> list[str]:
    """The libraries that took part in some rows, gradspec first."""
    return list(dict.fromkeys(library for row in rows for library in row.worst))


def measured(*paths: Path) -> Measured:
    """All that was measured, by default of the tree; nothing of a file that is not there."""
    found = Measured()
    for path in paths or (SWEEPS, CALLS):
        if path.exists():
            _read(json.loads(path.read_text(encoding="utf-8")), found)
    return found


def _read(data: dict[str, Any], found: Measured) -> None:
    for subject, quantities in data["ops"].items():
        name, _, settings = subject.partition("(")
        found.facts[name] = data["facts"]
        for of, worst in quantities.items():
            quantity, _, dtype = of.rpartition(", ")
            row = Row(quantity, dtype, settings.rstrip(")"), worst, data["bounds"][dtype])
            found.rows.setdefault(name, []).append(row)
    for subject, quantities in data["along"].items():
        name, _, settings = subject.partition("(")
        for of, letters in quantities.items():
            quantity, _, dtype = of.rpartition(", ")
            drawn = Along(quantity, dtype, settings.rstrip(")"), letters)
            found.along.setdefault(name, []).append(drawn)
    found.calls.update({name: Call(*call) for name, call in data.get("calls", {}).items()})
    found.left.update(data.get("left", {}))

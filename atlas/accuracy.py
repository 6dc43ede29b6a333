"""What `make accuracy` measured of the errors of elementwise ops, beside other libraries."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).parents[1] / "benchmarks" / "accuracy" / "measured.json"


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
        """What the row is of, in words."""
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
class Measured:
    """The rows of each op, by its name, and where they were measured."""

    rows: dict[str, list[Row]]
    along: dict[str, list[Along]]
    facts: dict[str, str]


def libraries(rows: Iterable[Row]) -> list[str]:
    """The libraries that took part in some rows, gradspec first."""
    return list(dict.fromkeys(library for row in rows for library in row.worst))


def measured(path: Path = MEASURED) -> Measured:
    """All that was measured; nothing if the file is not there."""
    if not path.exists():
        return Measured({}, {}, {})
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    rows: dict[str, list[Row]] = {}
    for subject, quantities in data["ops"].items():
        name, _, settings = subject.partition("(")
        for of, worst in quantities.items():
            quantity, _, dtype = of.rpartition(", ")
            row = Row(quantity, dtype, settings.rstrip(")"), worst, data["bounds"][dtype])
            rows.setdefault(name, []).append(row)
    drawn: dict[str, list[Along]] = {}
    for subject, quantities in data["along"].items():
        name, _, settings = subject.partition("(")
        for of, letters in quantities.items():
            quantity, _, dtype = of.rpartition(", ")
            drawn.setdefault(name, []).append(Along(quantity, dtype, settings.rstrip(")"), letters))
    return Measured(rows, drawn, data["facts"])

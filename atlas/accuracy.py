"""What `make accuracy` measured of the errors of elementwise ops, beside other libraries."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).parents[1] / "benchmarks" / "accuracy" / "measured.json"


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity of one op in one dtype: the worst relative error of each library."""

    of: str
    worst: dict[str, float | None]
    """None for an answer without a right digit; a library that is absent was not measured."""
    bound: float


@dataclass(frozen=True, slots=True)
class Measured:
    """The rows of each op, by its name, and where they were measured."""

    rows: dict[str, list[Row]]
    facts: dict[str, str]


def measured(path: Path = MEASURED) -> Measured:
    """All that was measured; nothing if the file is not there."""
    if not path.exists():
        return Measured({}, {})
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    rows: dict[str, list[Row]] = {}
    for subject, quantities in data["ops"].items():
        name, bracket, settings = subject.partition("(")
        for of, worst in quantities.items():
            bound = data["bounds"][of.rpartition(", ")[2]]
            label = f"{of}, {settings.rstrip(')')}" if bracket else of
            rows.setdefault(name, []).append(Row(label, worst, bound))
    return Measured(rows, data["facts"])

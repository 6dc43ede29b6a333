"""What was measured of the errors of elementwise ops, beside other libraries."""

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
    dtype: str
    points: int
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
    found: dict[tuple[str, str, str], Row] = {}
    for result in data["results"]:
        key = (result["op"], result["of"], result["dtype"])
        row = found.setdefault(
            key, Row(key[1], key[2], result["points"], {}, data["bounds"][key[2]])
        )
        row.worst[result["library"]] = result["worst"]
    rows: dict[str, list[Row]] = {}
    for (subject, _, _), row in found.items():
        rows.setdefault(subject.partition("(")[0], []).append(row)
    return Measured(rows, data["facts"])

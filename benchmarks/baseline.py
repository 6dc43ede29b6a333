"""Regressions: ratios to PyTorch and to NumPy by hand, compared with the committed ones.

Ratios, because they carry over from machine to machine better than times do; and those of one kind
of processor, as libraries of vendors make large arrays faster on their own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from .libraries import COMPILED
from .report import Row, compared

FILE = Path(__file__).parent / "baseline.json"
REFERENCES = ("torch-2", "numpy")
REFERENCES_OF_COMPILED = ("gradspec", "jax", "numpy")
"""Those of compiled programs: eager, which is the same code, and JAX, which compiles as well."""
MARGIN = 0.25
"""A ratio is a regression when it is more than this part above the baseline's."""

Ratios: TypeAlias = dict[str, dict[str, float]]
"""By row and reference."""


@dataclass(frozen=True, slots=True)
class Regression:
    """A ratio that is worse than the baseline allows."""

    case: str
    reference: str
    ratio: float
    baseline: float

    def __str__(self) -> str:
        return (
            f"{self.case}: {self.ratio:.2f} times {self.reference}, "
            f"baseline {self.baseline:.2f} (at most {self.baseline * (1 + MARGIN):.2f})"
        )


def ratios(rows: Sequence[Row]) -> Ratios:
    """The ratios of gradspec to the references, where there are any."""
    found = {
        row.name: {name: value for name, value in row.ratios().items() if name in _references(row)}
        for row in compared(rows)
    }
    return {name: values for name, values in found.items() if values}


def _references(row: Row) -> tuple[str, ...]:
    return REFERENCES_OF_COMPILED if row.subject == COMPILED.name else REFERENCES


def regressions(measured: Ratios, baseline: Ratios) -> list[Regression]:
    """List what got worse, among the ratios that both have."""
    return [
        Regression(case, reference, ratio, baseline[case][reference])
        for case, values in measured.items()
        for reference, ratio in values.items()
        if reference in baseline.get(case, {}) and ratio > baseline[case][reference] * (1 + MARGIN)
    ]


def in_both(before: Sequence[Regression], anew: Sequence[Regression]) -> list[Regression]:
    """Return the new findings that were findings before."""
    known = {(regression.case, regression.reference) for regression in before}
    return [regression for regression in anew if (regression.case, regression.reference) in known]


def count_known(measured: Ratios, baseline: Ratios) -> int:
    """Count the ratios that both have."""
    return sum(len(values.keys() & baseline.get(case, {})) for case, values in measured.items())


def not_in(measured: Ratios, baseline: Ratios) -> list[str]:
    """The rows that the baseline does not have yet."""
    return [case for case in measured if case not in baseline]


def load(cpu: str, path: Path) -> Ratios:
    """The committed ratios of a kind of processor; none where nobody has measured on it."""
    content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    ratios: Ratios = content.get(cpu, {}).get("ratios", {})
    return ratios


def processors(path: Path) -> list[str]:
    """The kinds of processors that there are ratios of."""
    return list(json.loads(path.read_text(encoding="utf-8")))


def save(measured: Ratios, machine: Mapping[str, str], path: Path) -> None:
    """Replace the ratios of the rows measured on this kind of processor; the others stay."""
    content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    rounded = {
        case: {name: round(ratio, 3) for name, ratio in values.items()}
        for case, values in measured.items()
    }
    kept = load(machine["cpu"], path)
    content[machine["cpu"]] = {"last_saved_on": machine, "ratios": kept | rounded}
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

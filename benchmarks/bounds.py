"""The bounds on gradspec's times: `bounds.yaml`, read and applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import yaml

from .report import Row

FILE = Path(__file__).parent / "bounds.yaml"
EVERY_WORKLOAD = "every workload"

Bounds: TypeAlias = Mapping[str, Mapping[str, float]]
"""By case and library: the ratio of gradspec to the library that is allowed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A bound, and the ratio that was measured."""

    ratio: float
    bound: float

    @property
    def is_met(self) -> bool:
        """Return whether gradspec is fast enough."""
        return self.ratio <= self.bound

    def __str__(self) -> str:
        return f"{self.ratio:.2f} {'≤' if self.is_met else '>'} {self.bound:g}"


def load(workloads: Iterable[str], path: Path = FILE) -> Bounds:
    """The bounds of each case; what is said of every workload is added to each of these."""
    bounds: dict[str, dict[str, float]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    general = bounds.pop(EVERY_WORKLOAD, {})
    return bounds | {name: general | bounds.get(name, {}) for name in workloads}


def verdicts(row: Row, bounds: Bounds) -> dict[str, Verdict]:
    """Tell by library whether a row meets its bounds, for the libraries measured."""
    ratios = row.ratios()
    return {
        library: Verdict(ratios[library], bound)
        for library, bound in bounds.get(row.name, {}).items()
        if library in ratios
    }

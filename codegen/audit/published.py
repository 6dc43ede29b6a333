"""Wrong derivatives that were reported: what is known, and which of it an audit finds again."""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import yaml

from .findings import Finding
from .questions import order_of
from .session import printed


@dataclass(frozen=True, slots=True)
class Published:
    """One report in public, and a program that shows it."""

    library: str
    issue: str
    """`pytorch/pytorch#196696`"""
    title: str
    functions: tuple[str, ...]
    orders: tuple[int, ...]
    """The orders of the derivatives that are wrong."""
    grades: tuple[str, ...]
    """The grades that a finding about it may have."""
    program: str
    """Prints the derivative."""
    exact: float

    def is_found_by(self, finding: Finding) -> bool:
        """Return whether a finding is about the reported derivative."""
        return (
            finding.function in self.functions
            and str(finding.grade) in self.grades
            and any(order_of(mode) in self.orders for mode in finding.modes)
        )


@functools.cache
def published() -> tuple[Published, ...]:
    """Read the table of reports."""
    text = (files(__package__) / "published.yaml").read_text(encoding="utf-8")
    table: list[dict[str, Any]] = yaml.safe_load(text)
    return tuple(
        Published(
            entry["library"],
            entry["issue"],
            entry["title"],
            tuple(entry["functions"].split()),
            tuple(entry["orders"]),
            tuple(entry["grades"].split()),
            entry["program"],
            float(entry["exact"]),
        )
        for entry in table
    )


def published_of(library: str) -> list[Published]:
    """The reports about one library."""
    return [each for each in published() if each.library == library]


def with_issues(finding: Finding, reported: list[Published]) -> Finding:
    """The finding with the reports that it finds again."""
    issues = tuple(each.issue for each in reported if each.is_found_by(finding))
    return dataclasses.replace(finding, issues=issues)


def reproduced(report: Published) -> float | None:
    """Run the program of a report; return what it prints, None if it raises."""
    try:
        return printed(report.program)
    except Exception:
        return None


def is_wrong_still(report: Published, answer: float | None) -> bool:
    """Return whether the derivative that was reported is wrong here."""
    if answer is None:
        return False
    return not abs(answer - report.exact) <= 1e-6 * max(abs(report.exact), 1e-300)

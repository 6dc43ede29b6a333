"""The bounds of errors, and the listed exceptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from gradspec_codegen.prove.inputs import domain

from .sweep import Error, Finding

BOUNDS: Final = {"float32": 1e-5, "float64": 1e-12}
"""The largest relative error allowed where the true value is a normal number."""

_FILE = Path(__file__).with_name("exceptions.yaml")


@dataclass(frozen=True, slots=True)
class Allowance:
    """A region in which results of one op may be worse than the bounds."""

    op: str
    quantities: tuple[str, ...]
    dtypes: tuple[str, ...]
    where: str
    reason: str

    def covers(self, finding: Finding, error: Error) -> bool:
        """Return whether an error of a finding is expected."""
        values = dict(zip(finding.arguments, error.point, strict=True))
        return (
            finding.op == self.op
            and finding.quantity in self.quantities
            and finding.dtype in self.dtypes
            and all(
                domain.evaluate(smaller, values) < domain.evaluate(larger, values)
                for smaller, larger in domain.comparisons(finding.arguments[0], self.where)
            )
        )


def listed() -> tuple[Allowance, ...]:
    """The exceptions of the data file."""
    entries = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return tuple(
        Allowance(
            entry["op"],
            tuple(entry["quantities"]),
            tuple(entry["dtypes"]),
            entry["where"],
            entry["reason"],
        )
        for entry in entries
    )


def broken(finding: Finding, exceptions: Sequence[Allowance]) -> list[Error]:
    """The errors of this library above the bound that no exception covers, the worst first."""
    return [error for error in excessive(finding) if not _is_covered(finding, error, exceptions)]


def excessive(finding: Finding) -> list[Error]:
    """The errors of this library above the bound."""
    bound = BOUNDS[finding.dtype]
    return [error for error in finding.errors["gradspec"] if error.relative > bound]


def unused(exceptions: Sequence[Allowance], findings: Sequence[Finding]) -> list[Allowance]:
    """Exceptions that no error needed: what they excuse has been mended."""
    return [
        exception
        for exception in exceptions
        if not any(exception.covers(f, error) for f in findings for error in excessive(f))
    ]


def _is_covered(finding: Finding, error: Error, exceptions: Sequence[Allowance]) -> bool:
    return any(exception.covers(finding, error) for exception in exceptions)

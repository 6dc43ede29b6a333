"""Outcome of checking the record of an op again, as plain data; free of sympy."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Recheck:
    """The outcome for one op."""

    name: str
    problem: str = ""
    """Reason why the record is refused; empty where it holds."""
    runs: int = 0
    equal: int = 0
    """Identities of which both sides are the same expression again."""
    by_residues: int = 0
    """Identities that hold at a random point of a finite field."""
    by_numbers: int = 0
    """Identities that hold to 50 digits at random points of the chamber."""
    tested: int = 0
    """Comparisons with differences, of an op that is tested with numbers only."""
    left: int = 0
    """Calls that symbols did not go through, which are taken from the record."""

    @classmethod
    def of(cls, name: str, problem: str, counts: Counter[str]) -> Recheck:
        """The outcome with what was counted."""
        return cls(name, problem, **counts)

    @property
    def holds(self) -> bool:
        """Return whether nothing speaks against the record."""
        return not self.problem

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as data for JSON."""
        return asdict(self)

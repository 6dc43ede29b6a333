"""Random test whether the two sides of an identity agree."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from sympy import Expr

from ..identities.identity import Identity
from ..numeric.evaluate import DIGITS, Point
from ..zero.is_zero import Region, are_far_apart, differ
from ..zero.residues import NoResidue, Residues, random_prime
from .fields import Field, Numbers
from .jacobian import Expected

POINTS = 3
"""Points of the chamber at which sides must agree that are different residues."""


class Sides:
    """Compares sides at the same random points, and counts how they agreed."""

    def __init__(self, rng: random.Random) -> None:
        self.counts: Counter[str] = Counter()
        self._rng = rng
        self._prime = random_prime(rng)
        self._salt = str(rng.getrandbits(64))
        self._residues = Residues(self._salt, self._prime)
        self._region: Region | None = None
        self._numbers: list[Numbers] = []

    def forget(self) -> None:
        """Begin with another call: few expressions will come up again."""
        self._residues = Residues(self._salt, self._prime)

    def count_ties(self, identities: int) -> None:
        """Count identities that hold to 50 digits at a tie."""
        self.counts["by_numbers"] += identities

    def agree(self, identity: Identity, region: Region) -> bool:
        """Return whether both sides have the same value at every point that is asked.

        Raises ProofError where the expected side has no value.
        """
        if identity.got == identity.expected:
            self.counts["equal"] += 1
        elif self._are_one_residue(identity):
            self.counts["by_residues"] += 1
        elif not any(_differ(identity, numbers) for numbers in self._points(region)):
            self.counts["by_numbers"] += 1
        else:
            return False
        return True

    def _are_one_residue(self, identity: Identity) -> bool:
        field = self._residues
        try:
            return bool(field.value(identity.got) == _value(identity.expected, field))
        except NoResidue:
            return False

    def _points(self, region: Region) -> list[Numbers]:
        """Random points of a chamber, the same for all identities of a run."""
        if region is not self._region:
            points = region.points(self._rng)
            self._numbers = [Numbers(next(points)) for _ in range(POINTS)]
            self._region = region
        return self._numbers


def _differ(identity: Identity, numbers: Numbers) -> bool:
    """Return whether the sides differ at a point; asked again with more digits."""
    point = numbers.point
    try:
        if not _are_apart(identity, numbers):
            return False
        return _are_apart(identity, Numbers(Point(point.values, 4 * DIGITS)))
    except NoResidue:  # derivatives may have no values where their sum has one
        return differ(identity.got, _expression(identity.expected), point)


def _are_apart(identity: Identity, numbers: Numbers) -> bool:
    expected = _value(identity.expected, numbers)
    return are_far_apart(numbers.value(identity.got), expected)


def _value(side: Any, field: Field) -> Any:
    return side.value(field) if isinstance(side, Expected) else field.value(side)


def _expression(side: Any) -> Expr:
    return side.expression() if isinstance(side, Expected) else side

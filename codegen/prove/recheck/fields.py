"""The two kinds of numbers at which identities are checked again: residues, and 50 digits."""

from __future__ import annotations

from typing import Any, Protocol

from sympy import Expr

from ..numeric.evaluate import Point, is_nan
from ..zero.residues import NoResidue


class Field(Protocol):
    """Values of expressions at one point, and how to compute with them."""

    def value(self, expr: Expr) -> Any:
        """The value of an expression. Raises NoResidue where there is none."""

    def conjugate(self) -> Field:
        """The same with `-i` for `i`."""

    def reduce(self, number: Any) -> Any:
        """A sum or product of values as a value."""

    def power(self, base: Any, exponent: int) -> Any:
        """An integer power of a value. Raises NoResidue for the inverse of zero."""


class Numbers:
    """Values to 50 digits."""

    def __init__(self, point: Point, *, is_conjugate: bool = False) -> None:
        self.point = point
        self._is_conjugate = is_conjugate

    def value(self, expr: Expr) -> Any:
        """The value of an expression. Raises NoResidue where there is none."""
        found = self.point.value(expr)
        if is_nan(found):
            raise NoResidue
        return found.conjugate() if self._is_conjugate else found

    def conjugate(self) -> Numbers:
        """The conjugates: symbols are real, and functions take conjugates to conjugates."""
        return Numbers(self.point, is_conjugate=not self._is_conjugate)

    def reduce(self, number: Any) -> Any:
        """Leave a number as it is."""
        return number

    def power(self, base: Any, exponent: int) -> Any:
        """An integer power. Raises NoResidue for the inverse of zero."""
        if exponent < 0 and base == 0:
            raise NoResidue
        return base**exponent

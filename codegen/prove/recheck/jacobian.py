"""The derivatives that identities expect, as numbers of a field; as expressions if need be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Expr, Rational, S

from ..identities.identity import Jacobian
from ..identities.run import Run
from ..symbolic.complex_numbers import conjugate, is_complex, parameters
from ..symbolic.derivatives import Derivatives
from ..symbolic.symbols import expressions
from .accumulation import Dual, Slopes
from .fields import Field


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected derivative: its value in a field, or the expression, for want of that."""

    value: Callable[[Field], Any]
    expression: Callable[[], Expr]


class FieldJacobian:
    """Stands in for `Jacobian`: the derivatives of a run's outputs at points of fields."""

    def __init__(self, run: Run, known: Derivatives) -> None:
        self._run = run
        self._exact = Jacobian(run, known)
        self._tangents = {p: t for found in run.directions.values() for p, t in found.items()}
        sides = (*self._exact.outputs.values(), *self._exact.cotangents.values())
        self._is_complex = any(map(is_complex, sides))
        self._sides: dict[Field, tuple[_Side, ...]] = {}

    def pulled_back(self, element: Expr) -> Expected:
        """Return the expected VJP."""
        return Expected(
            lambda field: self._by_parameters(element, 0, field),
            lambda: self._exact.pulled_back(element),
        )

    def pushed_forward(self, place: Any, tangents: dict[sympy.Symbol, sympy.Symbol]) -> Expected:
        """Return the expected JVP of one output element."""
        return Expected(
            lambda field: self._in(field)[0].slopes.along(self._exact.outputs[place]),
            lambda: self._exact.pushed_forward(place, tangents),
        )

    def curved(self, element: Expr, tangents: dict[sympy.Symbol, sympy.Symbol]) -> Expected:
        """Return the expected answer of the second pass for an input."""
        return Expected(
            lambda field: self._by_parameters(element, 1, field),
            lambda: self._exact.curved(element, tangents),
        )

    def bent(self, symbol: sympy.Symbol) -> Expected:
        """Return the expected answer of the second pass along a parameter of an input."""
        return Expected(lambda field: self._bent(symbol, field), lambda: self._exact.bent(symbol))

    def _bent(self, symbol: sympy.Symbol, field: Field) -> Any:
        slopes = Slopes(field, {symbol: S.One})
        pairs = (
            (weight, element)
            for leaf, gradient in self._run.gradients.items()
            if gradient is not None
            for weight, element in zip(
                expressions(self._run.weights[leaf]).flat, gradient.flat, strict=True
            )
        )
        return field.reduce(sum(field.value(w) * slopes.along(e) for w, e in pairs))

    def _in(self, field: Field) -> tuple[_Side, ...]:
        """The derivatives in a field, and with `-i` for `i` if there are complex numbers."""
        found = self._sides.get(field)
        if found is None:
            fields = (field, field.conjugate()) if self._is_complex else (field,)
            found = tuple(_Side(self._exact, each, self._tangents) for each in fields)
            self._sides[field] = found
        return found

    def _by_parameters(self, element: Expr, order: int, field: Field) -> Any:
        """The real derivative by `a`, plus `i` times that by `b`, of an input `a + i*b`."""
        sides = self._in(field)
        total: Any = 0
        for symbol, unit in parameters(element):
            found = sum(side.down.get(symbol, (0, 0))[order] for side in sides)
            total += field.value(unit) * found
        return field.reduce(total * field.value(Rational(1, len(sides))))


class _Side:
    """The derivatives with one of the two square roots of minus one for `i`."""

    def __init__(
        self, jacobian: Jacobian, field: Field, tangents: Mapping[sympy.Symbol, sympy.Symbol]
    ) -> None:
        self._jacobian = jacobian
        self._field = field
        self.slopes = Slopes(field, tangents)

    @cached_property
    def down(self) -> Mapping[Expr, Dual]:
        """The derivatives of the outputs, weighted with the conjugates of their cotangents."""
        weighted = [
            (self._jacobian.outputs[place], self._field.value(conjugate(cotangent)))
            for place, cotangent in self._jacobian.cotangents.items()
        ]
        return self.slopes.down_from(weighted)

"""One op against its exact values: where a value that floats can represent is lost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import mpmath
import numpy as np
import sympy

from ..render.to_sympy import SympyReader
from ..spec.model import Table
from .computed import Quantity, computed
from .exact import By, Exact
from .points import points
from .subjects import Subject

BOUNDS: Final = {"float32": 2e-6, "float64": 1e-12}
"""The largest relative error that counts as none, by dtype."""

_KEPT = 5
"""Number of the worst points of a quantity that are kept."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A point at which a value is lost."""

    point: tuple[float, ...]
    got: float
    exact: float
    relative: float
    """The relative error; infinite where the value has no digit at all."""

    @property
    def cause(self) -> str:
        """Name what went wrong, as far as the value tells."""
        if math.isnan(self.got):
            return "nan"
        if math.isinf(self.got):
            return "overflow"
        if self.got == 0 and self.exact != 0:
            return "underflow"
        return "cancellation" if self.relative > 1e-3 else "digits lost"


@dataclass(frozen=True, slots=True)
class Swept:
    """One quantity of an op in one dtype."""

    subject: str
    op: str
    arguments: tuple[str, ...]
    quantity: Quantity
    dtype: str
    checked: int
    worst: float
    """The largest relative error, also of what is excused."""
    lost: tuple[Lost, ...]
    """The worst points that nothing excuses."""
    count: int
    """The number of all points that nothing excuses."""
    excused: tuple[tuple[str, int], ...]
    """The conditions of the entry under which values may be lost, and how often they were."""

    @property
    def what(self) -> str:
        """`VJP of self`, `second derivative by self, other`"""
        how, by = self.quantity
        if how == "second":
            return f"second derivative by {', '.join(by)}"
        return f"{how} of {by[0]}" if by else how


def sweep(subject: Subject, table: Table, *, thin: int = 1) -> list[Swept]:
    """Compare an op at many points in both dtypes; `table` has the ops that it calls.

    Raises NotSymbolic if its definition is no expression.
    """
    return [
        comparison.of(quantity, values)
        for comparison in comparisons(subject, table, thin=thin)
        for quantity, values in comparison.results(subject).items()
    ]


def try_all(
    subject: Subject, candidates: Sequence[Subject], table: Table, *, thin: int = 1
) -> list[int]:
    """The number of points at which each candidate loses digits that the op should have."""
    counts = [0] * len(candidates)
    for comparison in comparisons(subject, table, thin=thin):
        for place, candidate in enumerate(candidates):
            try:
                results = comparison.results(candidate)
            except Exception:  # a candidate that cannot even be called
                counts[place] += len(comparison)
            else:
                counts[place] += sum(comparison.of(q, v).count for q, v in results.items())
    return counts


def comparisons(subject: Subject, table: Table, *, thin: int = 1) -> Iterator[Comparison]:
    """The comparison of an op with its exact values, in each dtype."""
    exact = Exact(subject, table)
    singularities = exact.singularities()
    for dtype in BOUNDS:
        where = points(subject, np.dtype(dtype), singularities, thin=thin)
        yield Comparison(subject, exact, dtype, where)


class Comparison:
    """Results at given points beside the exact ones, each of which is computed once."""

    def __init__(
        self, subject: Subject, exact: Exact, dtype: str, where: Sequence[tuple[float, ...]]
    ) -> None:
        self._subject = subject
        self._exact = exact
        self.dtype = dtype
        self.points = where
        self._info = np.finfo(dtype)
        self._known: dict[By, list[Any]] = {}

    def __len__(self) -> int:
        return len(self.points)

    def results(self, subject: Subject) -> dict[Quantity, Any]:
        """Every quantity of an op at the points: of the op itself, or of one in its place."""
        columns = [np.array(column, self.dtype) for column in zip(*self.points, strict=True)]
        return computed(subject, columns, self._exact.derivatives)

    def of(self, quantity: Quantity, values: Any) -> Swept:
        """Judge the values of one quantity."""
        checked, worst = 0, 0.0
        excused: Counter[str] = Counter()
        lost: list[Lost] = []
        errors, exact = self.errors(quantity, values), self._known[quantity[1]]
        for point, value, true, error in zip(self.points, values, exact, errors, strict=True):
            if error is None:
                continue
            checked += 1
            worst = max(worst, error)
            if error <= BOUNDS[self.dtype]:
                continue
            reason = next(excuses(self._subject, point), None)
            if reason is None:
                lost.append(Lost(point, float(value), float(true), error))
            else:
                excused[reason] += 1
        lost.sort(key=lambda each: -each.relative)
        return Swept(
            self._subject.label,
            self._subject.op.name,
            self._subject.tensors,
            quantity,
            self.dtype,
            checked,
            worst,
            tuple(lost[:_KEPT]),
            len(lost),
            tuple(excused.items()),
        )

    def errors(self, quantity: Quantity, values: Any) -> list[float | None]:
        """The relative error at each point; None where no float is near the exact value."""
        by = quantity[1]
        if by not in self._known:
            self._known[by] = [self._exact(by, point) for point in self.points]
        return [
            None
            if true is None or abs(true) > self._info.max
            else self._error(float(value), true, by, point)
            for point, value, true in zip(self.points, values, self._known[by], strict=True)
        ]

    def _error(self, value: float, true: Any, by: By, point: Sequence[float]) -> float:
        """The relative error of a result; below the normal numbers, whether it is as small."""
        if not math.isfinite(value):
            return math.inf
        if abs(true) < self._info.smallest_normal:
            return 0.0 if abs(value) <= 2 * self._info.smallest_normal else math.inf
        error = float(abs((mpmath.mpf(value) - true) / true))
        if error > BOUNDS[self.dtype]:
            scale = self._exact.scale_beside_zero(by, point)
            if scale is not None:
                return float(abs(mpmath.mpf(value) - true) / scale)
        return error


def excuses(subject: Subject, point: Sequence[float]) -> Iterator[str]:
    """The conditions of an entry's `accuracy` that hold at a point."""
    numbers = {name: value for name, value in subject.arguments().items() if value is not None}
    values: dict[str, Any] = {
        name: sympy.sympify(value, rational=True) if isinstance(value, int | float) else value
        for name, value in numbers.items()
    }
    for name, x in zip(subject.tensors, point, strict=True):
        values[name] = sympy.Rational(x)
    for condition, _ in subject.op.accuracy:
        if SympyReader(Table(())).block(condition.block, values) == sympy.true:
            yield condition.text

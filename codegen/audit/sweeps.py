"""Elementwise ops at many points: exact first and second derivatives along each argument.

Runs in the workers of a proof.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import mpmath
import numpy as np

from ..lint.computed import computed
from ..lint.exact import By, Exact, differentiable
from ..lint.points import points
from ..lint.subjects import Subject
from ..lint.sweep import excuses
from ..spec.model import Table
from .questions import EXTREME, GENERIC, SPECIAL, Array, Sweep

_LARGEST = float(np.finfo(np.float64).max)
_TINY = float(np.finfo(np.float64).smallest_normal)
"""Libraries take what is smaller for zero."""
_HUGE: Final = 1e300
_OVERFLOW: Final = (1024.0, 709.782712893384, 710.4758600739439)
"""The ends of exp2, of exp and of cosh: their derivatives are numbers a little further on."""
_GENERIC: Final = 16
"""Usual points that are tried."""
_USUAL: Final = 128.0
"""Larger numbers are far out."""
_OF_GRID: Final = 60
"""Points of several arguments that are tried, of all magnitudes."""


def sweeps_of(subject: Subject, table: Table, thin: int) -> Iterator[Sweep]:
    """An op along each of its arguments, and along each two of them.

    Raises NotSymbolic if the definition is no expression.
    """
    exact = Exact(subject, table)
    where = _points(subject, exact, thin)
    columns = [np.array(c, np.float64) for c in zip(*where, strict=True)]
    known = exact.derivatives
    evaluated = {by: [exact(by, point) for point in where] for by in known}
    with np.errstate(all="ignore"):
        own = computed(subject, columns, known)
    names = differentiable(subject)
    excused = np.array([_is_excused(subject, point) for point in where])
    for group in [(name,) for name in names] + list(combinations(names, 2)):
        direction = {name: place + 1 for place, name in enumerate(group)}
        first, first_scale = _along(evaluated, direction, 1)
        second, second_scale = _along(evaluated, direction, 2)
        ours = (_own(own, direction, 1), _own(own, direction, 2))
        yield Sweep(
            subject.op.name,
            dict(subject.settings),
            dict(zip(subject.tensors, columns, strict=True)),
            direction,
            tuple(_kind(point, exact) for point in where),
            np.array([_float(x) for x in evaluated[()]]),
            (first, second),
            (first_scale, second_scale),
            ours,
            (excused | _has_lost(ours[0], first), excused | _has_lost(ours[1], second)),
        )


def _points(subject: Subject, exact: Exact, thin: int) -> list[tuple[float, ...]]:
    found = points(subject, np.dtype(np.float64), exact.singularities(), thin=thin)
    found = [p for p in found if all(x == 0 or _TINY <= abs(x) <= _HUGE for x in p)]
    if len(subject.tensors) > 1:
        found = found[:: max(1, len(found) // _OF_GRID)]
    rng = np.random.default_rng(3)
    usual = rng.uniform(0.3, 3.0, (4 * _GENERIC, len(subject.tensors)))
    usual *= rng.choice([-1.0, 1.0], usual.shape)
    usual = np.round(usual * 128) / 128
    inside = [tuple(map(float, row)) for row in usual if exact((), tuple(row)) is not None]
    half = [tuple(map(float, abs(row) / 4)) for row in usual[: _GENERIC // 2]]
    special = [(0.0,) * len(subject.tensors), (1.0,) * len(subject.tensors)]
    if len(subject.tensors) == 2:
        special += [(0.0, 1.0), (1.0, 0.0), (0.0, 2.0), (2.0, 0.0), (2.0, 2.0), (-1.0, -1.0)]
        special += [(800.0, -800.0), (-800.0, 800.0), (40.0, 0.5), (0.5, 40.0)]
    elif len(subject.tensors) == 1:
        special += [(x,) for x in (40.0, -40.0, 800.0, -800.0, 1024.0, -16.5, -22.5, -100.5)]
        special += [(x,) for x in (1e-300, 1e-16, 1e-8)]
        special += [(x,) for end in _OVERFLOW for x in (end, -end, math.nextafter(end, math.inf))]
        special += [(x,) for x in (1e5, -1e5, 1e160, -1e160)]
    special = [point for point in special if exact((), point) is not None]
    return list(dict.fromkeys([*inside[:_GENERIC], *half, *special, *found]))


def _kind(point: Sequence[float], exact: Exact) -> str:
    special = {0.0, 1.0, -1.0, *exact.singularities()}
    if any(x != 0 and not 1e-3 < abs(x) < 100 for x in point):
        return EXTREME
    if any(x in special for x in point) or len(set(point)) < len(point):
        return SPECIAL
    return (
        GENERIC
        if all(0.05 < abs(x) < _USUAL for x in point) and _is_far(point, special)
        else EXTREME
    )


def _is_far(point: Sequence[float], special: set[float]) -> bool:
    return all(abs(x - s) > 1e-3 for x in point for s in special)


def _float(value: Any) -> float:
    return float("nan") if value is None or abs(value) > _LARGEST else float(value)


def _along(
    evaluated: Mapping[By, list[Any]], direction: Mapping[str, int], order: int
) -> tuple[Array, Array]:
    """The derivative along a direction at each point, and the size that errors are relative to."""
    terms = _terms(direction, order)
    values, scales = [], []
    for number in range(len(evaluated[()])):
        parts = [(factor, by, evaluated[by][number]) for factor, by in terms]
        if any(part is None for _, _, part in parts):
            values.append(float("nan"))
            scales.append(1.0)
            continue
        total = mpmath.fsum(factor * part for factor, _, part in parts)
        values.append(_float(total))
        scales.append(_float(max(abs(factor * part) for factor, _, part in parts)))
    return np.array(values), np.array(scales)


def _terms(direction: Mapping[str, int], order: int) -> list[tuple[int, By]]:
    names = list(direction)
    if order == 1:
        return [(direction[a], (a,)) for a in names]
    squares: list[tuple[int, By]] = [(direction[a] ** 2, (a, a)) for a in names]
    return squares + [(2 * direction[a] * direction[b], (a, b)) for a, b in combinations(names, 2)]


def _own(own: Mapping[Any, Array], direction: Mapping[str, int], order: int) -> Array:
    how = "VJP" if order == 1 else "second"
    parts = [factor * own[how, by] for factor, by in _terms(direction, order)]
    return np.asarray(np.sum(parts, axis=0))


def _has_lost(own: Array, exact: Array) -> Array:
    """Return where gradspec has lost digits itself, as beside zeros that are no floats."""
    with np.errstate(all="ignore"):
        return np.asarray(~(np.abs(own - exact) <= _LOST * np.abs(exact)) & ~np.isnan(exact))


_LOST = 1e-6


def _is_excused(subject: Subject, point: Sequence[float]) -> bool:
    return next(excuses(subject, point), None) is not None

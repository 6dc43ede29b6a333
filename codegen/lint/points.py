"""The points of a sweep: all magnitudes, the neighbourhood of breakpoints, special values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, Final

import numpy as np
import sympy

from ..prove.inputs import domain
from ..prove.inputs.kinks import declared
from ..render.to_sympy import NotSymbolic
from .subjects import Subject

Points = list[tuple[float, ...]]

_SPECIAL: Final = (0.0, -0.0)
_ULPS: Final = (1, 2, 5, 40, 1000)
_RNG_SEED: Final = 7
_MOST_DIGITS: Final = 8
"""Beside a centre points lie at distances of `10**-n` of it, up to this `n`."""


def points(
    subject: Subject, dtype: np.dtype[Any], singularities: Sequence[float], *, thin: int = 1
) -> Points:
    """Points of the op's domain as floats of `dtype`; every `thin`-th of those by magnitude.

    With them come points beside the op's breakpoints and singularities, and these themselves.
    """
    rng = np.random.default_rng(_RNG_SEED)
    centres = sorted({*_borders(subject), *singularities, 1.0, -1.0})
    match len(subject.tensors):
        case 1:
            return _line(subject, dtype, rng, centres, thin)
        case 2:
            return _grid(subject, dtype, rng, (14, 8))[::thin]
    return _grid(subject, dtype, rng, (3, 3))[::thin]


def _line(
    subject: Subject,
    dtype: np.dtype[Any],
    rng: np.random.Generator,
    centres: Sequence[float],
    thin: int,
) -> Points:
    """Points for one argument."""
    info = np.finfo(dtype)
    high = float(np.log(info.max))
    low = float(np.log(info.smallest_subnormal))
    positive = np.concatenate(
        [
            _geometric(float(info.smallest_subnormal), float(info.smallest_normal), 12, rng),
            _geometric(float(info.smallest_normal), float(info.max), 120, rng),
            _geometric(1e-9, 2e3, 120, rng),
            rng.uniform(0.95 * high, 1.02 * -low, 40),  # where exponentials leave the floats
            rng.uniform(0.5 * high**0.5, 1.5 * (-low) ** 0.5, 60),  # and those of squares
        ]
    )[::thin]
    ends = [float(info.smallest_normal), float(info.max), 1.0, 2.0]
    positive = np.concatenate([positive, ends])
    values = np.concatenate([positive, -positive, *_near(subject, dtype, centres, thin)])
    inside = _inside(subject, subject.tensors[0], values.astype(dtype))
    low, high = domain.bounds(subject.tensors[0], _conditions(subject, subject.tensors[0]))
    exactly = [*_SPECIAL, *(float(dtype.type(centre)) for centre in centres)]
    exactly = [x for x in exactly if low <= x <= high]
    return [(x,) for x in dict.fromkeys([*inside.tolist(), *exactly])]


def _grid(
    subject: Subject, dtype: np.dtype[Any], rng: np.random.Generator, counts: tuple[int, int]
) -> Points:
    """Tuples of magnitudes, of either sign, and of numbers next to each other."""
    info = np.finfo(dtype)
    tiny, most = float(info.smallest_normal), float(info.max)
    wide, usual = counts
    magnitudes = np.concatenate(
        [_geometric(tiny, most, wide, rng), _geometric(1e-2, 1e2, usual, rng), [1.0]]
    )
    count = len(subject.tensors)
    tuples = list(product(magnitudes, repeat=count))
    for x in magnitudes:
        tuples += [(x, *[x * (1 + step)] * (count - 1)) for step in (0, 1e-6, 1e-3)]
    signs = list(product((1, -1), repeat=count))
    signed = [tuple(s * x for s, x in zip(sign, t, strict=True)) for t in tuples for sign in signs]
    with np.errstate(over="ignore", under="ignore"):
        values = np.array(signed).astype(dtype)
    values = values[np.isfinite(values).all(axis=1)]
    for column, name in enumerate(subject.tensors):
        values = values[_is_inside(subject, name, values[:, column])]
    return [tuple(row) for row in values.tolist()]


def _geometric(low: float, high: float, count: int, rng: np.random.Generator) -> Any:
    """Log-spaced numbers, each moved a little, so that none is round."""
    edges = np.linspace(np.log(low), np.log(high), count + 1)
    return np.exp(np.minimum(edges[:-1] + rng.uniform(0, 1, count) * np.diff(edges), edges[-1]))


def _near(subject: Subject, dtype: np.dtype[Any], centres: Sequence[float], thin: int) -> list[Any]:
    """Floats beside the ends of the domain, and beside other centres."""
    argument = subject.tensors[0]
    found = []
    for centre in sorted({*centres, *domain.bounds(argument, _conditions(subject, argument))}):
        if np.isfinite(centre) and centre != 0:
            step = np.spacing(dtype.type(abs(centre)))
            found.append(np.array([centre + s * n * step for n in _ULPS for s in (1, -1)]))
            digits = range(1, 1 + _MOST_DIGITS, min(thin, 2))
            found.append(np.array([centre + s * 10.0**-n for n in digits for s in (1, -1)]))
    return found


def _borders(subject: Subject) -> list[float]:
    """The breakpoints of the first argument that the numbers of the subject set."""
    numbers = {
        name: sympy.nsimplify(value, rational=True)
        for name, value in subject.arguments().items()
        if isinstance(value, int | float)
    }
    found = []
    for kink in declared(subject.op):
        given = {*numbers, kink.param}
        if all(s.name in given for s in sympy.sympify(kink.left - kink.right).free_symbols):
            try:
                found.append(float(kink.border(numbers)))
            except (NotSymbolic, TypeError):
                continue  # it holds nowhere, or not at a single number
    return found


def _conditions(subject: Subject, argument: str) -> list[str]:
    return [text for name, text in subject.op.domain if name == argument]


def _is_inside(subject: Subject, argument: str, values: Any) -> Any:
    low, high = domain.bounds(argument, _conditions(subject, argument))
    return (values > low) & (values < high) & np.isfinite(values)


def _inside(subject: Subject, argument: str, values: Any) -> Any:
    return values[_is_inside(subject, argument, values)]

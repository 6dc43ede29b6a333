"""The points of a sweep: all magnitudes, the neighbourhood of breakpoints, special values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import sympy

from gradspec_codegen.prove.inputs import domain
from gradspec_codegen.prove.inputs.kinks import declared

from .subjects import Subject

_SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan)
_ULPS = (1, 2, 5, 40, 1000)
_RNG_SEED = 7


def points(subject: Subject, dtype: np.dtype[Any], *, thin: int = 1) -> list[tuple[float, ...]]:
    """Points of the op's domain as floats of `dtype`; every `thin`-th of them."""
    rng = np.random.default_rng(_RNG_SEED)
    if len(subject.tensors) == 1:
        return [(x,) for x in _line(subject, dtype, rng)[::thin]]
    return _plane(subject, dtype, rng)[::thin]


def _line(subject: Subject, dtype: np.dtype[Any], rng: np.random.Generator) -> list[float]:
    """Points for one argument."""
    info = np.finfo(dtype)
    high = float(np.log(info.max))
    low = float(np.log(info.smallest_subnormal))
    magnitudes = [
        _geometric(float(info.smallest_subnormal), float(info.smallest_normal), 12, rng),
        _geometric(float(info.smallest_normal), float(info.max), 120, rng),
        _geometric(1e-9, 2e3, 120, rng),
        rng.uniform(0.95 * high, 1.02 * -low, 40),  # where exponentials leave the floats
        [float(info.smallest_normal), float(info.max), 1.0, 2.0],
    ]
    positive = np.concatenate(magnitudes)
    values = np.concatenate([positive, -positive, *_near(subject, dtype)]).astype(dtype)
    inside = _inside(subject, subject.tensors[0], values)
    return [*inside.tolist(), *(x for x in _SPECIAL)]


def _plane(
    subject: Subject, dtype: np.dtype[Any], rng: np.random.Generator
) -> list[tuple[float, ...]]:
    """Pairs of magnitudes, and pairs of numbers next to each other."""
    info = np.finfo(dtype)
    tiny, most = float(info.smallest_normal), float(info.max)
    magnitudes = np.concatenate(
        [_geometric(tiny, most, 14, rng), _geometric(1e-2, 1e2, 8, rng), [1.0]]
    )
    pairs = list(product(magnitudes, magnitudes))
    pairs += [(x, x * (1 + step)) for x in magnitudes for step in (0, 1e-6, 1e-3)]
    signed = [(s * x, t * y) for x, y in pairs for s in (1, -1) for t in (1, -1)]
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


def _near(subject: Subject, dtype: np.dtype[Any]) -> list[Any]:
    """Floats beside the ends of the domain, the breakpoints and the ends of common intervals."""
    argument = subject.tensors[0]
    centres = {*_borders(subject), *domain.bounds(argument, _conditions(subject, argument))}
    found = []
    for centre in sorted({*centres, 1.0, -1.0}):
        if np.isfinite(centre) and centre != 0:
            step = np.spacing(dtype.type(abs(centre)))
            found.append(np.array([centre + s * n * step for n in _ULPS for s in (1, -1)]))
            found.append(np.array([centre + s * 10.0**-n for n in range(1, 9) for s in (1, -1)]))
    return found


def _borders(subject: Subject) -> Sequence[float]:
    numbers = {
        name: sympy.nsimplify(value, rational=True)
        for name, value in subject.arguments().items()
        if isinstance(value, int | float)
    }
    named = [
        kink
        for kink in declared(subject.op)
        if all(
            s.name in numbers or s.name == kink.param
            for s in sympy.sympify(kink.left - kink.right).free_symbols
        )
    ]
    return [float(kink.border(numbers)) for kink in named]


def _conditions(subject: Subject, argument: str) -> list[str]:
    return [text for name, text in subject.op.domain if name == argument]


def _is_inside(subject: Subject, argument: str, values: Any) -> Any:
    low, high = domain.bounds(argument, _conditions(subject, argument))
    return (values > low) & (values < high) & np.isfinite(values)


def _inside(subject: Subject, argument: str, values: Any) -> Any:
    return values[_is_inside(subject, argument, values)]

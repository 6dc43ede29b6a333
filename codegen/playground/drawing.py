"""A counterexample as a picture: the formula beside the derivative, along one argument."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import sympy

from ..ir.parse import FormulaError, parse
from ..prove.report.verdict import Counterexample
from ..render.to_sympy import NotSymbolic, SympyReader
from ..spec.model import Table

_WIDTH, _HEIGHT, _MARGIN = 460.0, 250.0, 34.0
_STEPS = 120

_FUNCTIONS = {
    name: getattr(sympy, name)
    for name in (
        *("Abs", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "sign", "erf"),
        *("asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh", "loggamma", "polygamma"),
    )
}
"""Functions that expressions of a counterexample may call; others have no picture."""


def drawing(found: Counterexample, table: Table) -> str:
    """The SVG of a counterexample; empty where its sides are no functions of one number."""
    point = {name: sympy.Rational(value) for name, value in found.point}
    along = next((name for name in point if not name.startswith("grad")), None)
    if along is None or not (found.got and found.expected):
        return ""
    try:
        sides = [_expression(text, point, along, table) for text in (found.got, found.expected)]
        at = float(point[along])
        xs = [
            at + reach * (2 * n / _STEPS - 1) for reach in (_reach(at),) for n in range(_STEPS + 1)
        ]
        curves = [[_value(side, x) for x in xs] for side in sides]
        ends = [_value(side, at) for side in sides]
    except (FormulaError, NotSymbolic, TypeError, ValueError):
        return ""
    return _svg(along, at, xs, curves, ends) if all(map(math.isfinite, ends)) else ""


def _expression(text: str, point: dict[str, Any], along: str, table: Table) -> Any:
    """One side over the argument that is drawn, all others as at the point."""
    names = {**point, along: sympy.Symbol("x", real=True)}
    # Parsed as a formula of a spec, which executes nothing.
    return SympyReader(table, _FUNCTIONS).block(parse(text), names)


def _reach(at: float) -> float:
    """Distance to each side: not over zero, where most comparisons change."""
    return 0.95 * abs(at) if at else 1.0


def _value(side: Any, x: float) -> float:
    value = sympy.sympify(side).subs(sympy.Symbol("x", real=True), x).evalf(17)
    return float(value) if value.is_real and value.is_finite else math.nan


def _svg(
    along: str,
    at: float,
    xs: Sequence[float],
    curves: Sequence[Sequence[float]],
    ends: Sequence[float],
) -> str:
    shown = [y for curve in curves for y in curve if math.isfinite(y)]
    low, high = min(*shown, *ends), max(*shown, *ends)
    pad = 0.1 * (high - low) or 1.0
    low, high = low - pad, high + pad

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            _MARGIN + (_WIDTH - 2 * _MARGIN) * (x - xs[0]) / (xs[-1] - xs[0]),
            _MARGIN + (_HEIGHT - 2 * _MARGIN) * (high - y) / (high - low),
        )

    said = (
        f"Along {along}, around {at:.6g}: the formula gives {ends[0]:.6g}, "
        f"the derivative is {ends[1]:.6g}"
    )
    parts = [f"<title>{escape(said)}</title>"]
    for curve, kind in zip(curves, ("formula", "derivative"), strict=True):
        parts.append(f'<path class="{kind}" d="{"".join(_path(xs, curve, place))}"/>')
    (x, y0), (_, y1) = (place(at, end) for end in ends)
    parts.append(f'<line class="gap" x1="{x:.1f}" y1="{y0:.1f}" x2="{x:.1f}" y2="{y1:.1f}"/>')
    for y, kind, end, curve in (
        (y0, "formula", ends[0], curves[0]),
        (y1, "derivative", ends[1], curves[1]),
    ):
        parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
        is_above = end == max(ends)
        # Off the curve: to the right where it goes away from the words, and to the left otherwise.
        side, anchor = (8, "start") if is_above == _falls(curve) else (-8, "end")
        words = (
            f'x="{x + side:.1f}" y="{y - 12 if is_above else y + 20:.1f}" text-anchor="{anchor}"'
        )
        parts.append(f"<text {words}>{kind} {end:.4g}</text>")
    for edge, anchor in ((xs[0], "start"), (xs[-1], "end")):
        px = place(edge, low)[0]
        parts.append(
            f'<text class="tick" x="{px:.1f}" y="{_HEIGHT - 8}" text-anchor="{anchor}">'
            f"{escape(along)} = {edge:.3g}</text>"
        )
    return (
        f'<svg viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" role="img" aria-label="{escape(said)}">'
        f"{''.join(parts)}</svg>"
    )


def _falls(curve: Sequence[float]) -> bool:
    """Return whether a curve is lower at its right end than in the middle."""
    last = next((y for y in reversed(curve) if math.isfinite(y)), 0.0)
    return last < curve[len(curve) // 2]


def _path(xs: Sequence[float], ys: Sequence[float], place: Any) -> Iterator[str]:
    """A curve with gaps where it has no value."""
    pen = "M"
    for x, y in zip(xs, ys, strict=True):
        if not math.isfinite(y):
            pen = "M"
            continue
        px, py = place(x, y)
        yield f"{pen}{px:.1f} {py:.1f}"
        pen = "L"

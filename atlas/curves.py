"""Small pictures of elementwise ops: the function, its derivative, and what is taken at kinks."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeAlias

import numpy as np

from gradspec_codegen.ir import nodes as ir
from gradspec_codegen.ir.parse import parse
from gradspec_codegen.lint.computed import computed
from gradspec_codegen.lint.subjects import Subject, subjects
from gradspec_codegen.prove.inputs import domain
from gradspec_codegen.render.to_sympy import NotSymbolic, SympyReader
from gradspec_codegen.spec.model import OpSpec, Table

Array: TypeAlias = np.ndarray[Any, Any]

WIDTH, HEIGHT, MARGIN = 420.0, 240.0, 30.0
POINTS = 321
_REACH = 4.0
_NUMBER = 34.0
"""Width of a number beside an axis."""
_OTHERS = 1.5
"""The second argument of an op with two, in its picture."""


@dataclass(frozen=True, slots=True)
class Curves:
    """The values of an op along its first argument, the derivative, and the points at kinks."""

    label: str
    x: Array
    value: Array
    slope: Array
    kinks: tuple[tuple[float, float], ...]
    """`(x, derivative that is taken there)`"""


def picture(op: OpSpec, table: Table) -> str:
    """The SVG of an elementwise op; empty for others."""
    subject = next(iter(subjects(Table((op,)), table)), None)
    if subject is None:
        return ""
    curves = _curves(subject, table)
    return "" if curves is None else _svg(curves)


def _curves(subject: Subject, table: Table) -> Curves | None:
    op, first = subject.op, subject.tensors[0]
    kinks = sorted(set(_kinks(subject, table)))
    low, high = _interval(op, first, kinks)
    x = np.linspace(low, high, POINTS)
    if first not in op.differentiable_params and op.composite is None:
        return None
    at_kinks = np.array(kinks)
    try:
        found = _evaluated(subject, x)
        slopes = _evaluated(subject, at_kinks)[1] if kinks else at_kinks
    except (RuntimeError, TypeError, ValueError):
        return None
    if not np.isfinite(found[0]).any():
        return None
    others = [f"{name} = {_other(op, name)}" for name in subject.tensors[1:]]
    label = subject.label + (f", {', '.join(others)}" if others else "")
    marks = tuple((float(a), float(b)) for a, b in zip(kinks, slopes, strict=True))
    return Curves(label, x, *found, marks)


def _evaluated(subject: Subject, x: Array) -> tuple[Array, Array]:
    first = subject.tensors[0]
    columns = [
        x if name == first else np.full_like(x, _other(subject.op, name))
        for name in subject.tensors
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = computed(subject, columns, [(first,)])
    return found["forward", ()], found["VJP", (first,)]


def _other(op: OpSpec, name: str) -> float:
    low, high = domain.bounds(name, [text for argument, text in op.domain if argument == name])
    return _OTHERS if low < _OTHERS < high else float(np.clip(0.5, low, high))


def _kinks(subject: Subject, table: Table) -> Iterator[float]:
    """The breakpoints of the first argument, where they are numbers."""
    first = subject.tensors[0]
    names: dict[str, Any] = {
        n: v for n, v in subject.arguments().items() if isinstance(v, int | float)
    }
    names |= {n: _other(subject.op, n) for n in subject.tensors[1:]}
    for condition, _ in subject.op.kinks:
        match parse(condition).expression:
            case ir.Compare(op="==", left=ir.Name(id=name), right=right) if name == first:
                try:
                    yield float(SympyReader(table).expr(right, names))
                except (NotSymbolic, TypeError, ValueError):
                    continue


def _interval(op: OpSpec, name: str, kinks: Sequence[float]) -> tuple[float, float]:
    low, high = domain.bounds(name, [text for argument, text in op.domain if argument == name])
    centre = (min(kinks) + max(kinks)) / 2 if kinks else 0.0
    reach = max(_REACH, (max(kinks) - min(kinks)) if kinks else 0.0)
    start, end = max(low, centre - reach), min(high, centre + reach)
    if not start < end:
        start, end = (low, low + reach) if np.isfinite(low) else (high - reach, high)
    inset = 1e-3 * (end - start)
    return start + inset * bool(start == low), end - inset * bool(end == high)


def _svg(curves: Curves) -> str:
    low, high = _range(curves)
    inner_width, inner_height = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN
    left, right = curves.x[0], curves.x[-1]

    def at(x: float, y: float) -> tuple[float, float]:
        return (
            MARGIN + inner_width * (x - left) / (right - left),
            MARGIN + inner_height * (high - y) / (high - low),
        )

    parts = [*_axes(at, left, right, low, high)]
    for values, kind in ((curves.slope, "slope"), (curves.value, "value")):
        parts += [
            f'<path class="{kind}" d="{path}"/>' for path in _paths(curves.x, values, low, high, at)
        ]
    for x, slope in curves.kinks:
        if np.isfinite(slope) and low <= slope <= high:
            px, py = at(x, slope)
            parts.append(f'<circle class="kink" cx="{px:.1f}" cy="{py:.1f}" r="4"/>')
    said = f"{curves.label} and its derivative for x from {left:.3g} to {right:.3g}"
    if curves.kinks:
        said += "; at the kinks: " + ", ".join(f"{s:.4g} at {x:.4g}" for x, s in curves.kinks)
    parts.append(_legend(bool(curves.kinks)))
    return (
        f'<figure class="curves"><svg viewBox="0 0 {WIDTH:.0f} {HEIGHT + 22:.0f}" role="img" '
        f'aria-label="{escape(said)}">{"".join(parts)}</svg>'
        f"<figcaption>{escape(said)}</figcaption></figure>"
    )


def _range(curves: Curves) -> tuple[float, float]:
    """Range of the vertical axis that is shown: nearly all, but not the way to a pole."""
    finite = np.concatenate([v[np.isfinite(v)] for v in (curves.value, curves.slope)])
    low, high = np.quantile(finite, [0.03, 0.97])
    low, high = min(float(low), 0.0), max(float(high), 0.0)
    shown = [s for _, s in curves.kinks if np.isfinite(s) and abs(s) < 50]
    low, high = min([low, *shown]), max([high, *shown])
    low, high = max(low, -30.0), min(high, 30.0)
    if high - low < 1e-9:
        low, high = low - 1, high + 1
    pad = 0.08 * (high - low)
    return low - pad, high + pad


def _axes(at: Any, left: float, right: float, low: float, high: float) -> Iterator[str]:
    x0, y0 = min(max(0.0, left), right), 0.0
    for (a, b), (c, d) in ((at(left, y0), at(right, y0)), (at(x0, low), at(x0, high))):
        yield f'<line class="axis" x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}"/>'
    names = [at(left, y0)[0], at(right, y0)[0] - _NUMBER]  # where the numbers of the axis begin
    for value in (left, right):
        x, y = at(value, y0)
        anchor = "start" if value == left else "end"
        where = f'x="{x:.1f}" y="{y + 14:.1f}" text-anchor="{anchor}"'
        yield f'<text class="tick" {where}>{value:.3g}</text>'
    for value in (-_round_within(-low), _round_within(high)):
        if abs(value) < 0.1 * (high - low):
            continue
        x, y = at(x0, value)
        yield f'<line class="axis" x1="{x - 3:.1f}" y1="{y:.1f}" x2="{x + 3:.1f}" y2="{y:.1f}"/>'
        is_level = abs(y - at(x0, y0)[1] - 10) < 13
        if is_level and any(abs(x + 4 - begins) < _NUMBER for begins in names):
            continue
        yield f'<text class="tick" x="{x + 4:.1f}" y="{y + 4:.1f}">{value:.3g}</text>'


def _round_within(most: float) -> float:
    """The largest of 1, 2, 5, 10, ... that is not above a number; 0 where that is not positive."""
    if most <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(most))
    return max((step * power for step in (1, 2, 5) if step * power <= most), default=0.0)


def _paths(x: Array, values: Array, low: float, high: float, at: Any) -> Iterator[str]:
    """The runs of a curve that are inside the picture; a jump ends one."""
    clipped = np.isfinite(values) & (values >= low) & (values <= high)
    steps = np.abs(np.diff(values, prepend=values[0]))
    usual = np.median(steps[np.isfinite(steps)]) if np.isfinite(steps).any() else 0.0
    jumps = steps > max(0.12 * (high - low), 12 * usual)
    run: list[str] = []
    for number, inside in enumerate(clipped):
        if not inside or jumps[number]:
            if len(run) > 1:
                yield "M" + "L".join(run)
            run = []
        if inside:
            px, py = at(x[number], values[number])
            run.append(f"{px:.1f} {py:.1f}")
    if len(run) > 1:
        yield "M" + "L".join(run)


def _legend(with_kinks: bool) -> str:
    y = HEIGHT + 10
    parts = [
        f'<path class="value" d="M{MARGIN} {y}h22"/>'
        f'<text x="{MARGIN + 28}" y="{y + 4}">function</text>',
        f'<path class="slope" d="M{MARGIN + 100} {y}h22"/>'
        f'<text x="{MARGIN + 128}" y="{y + 4}">derivative</text>',
    ]
    if with_kinks:
        parts.append(
            f'<circle class="kink" cx="{MARGIN + 218}" cy="{y}" r="4"/>'
            f'<text x="{MARGIN + 228}" y="{y + 4}">taken at a kink</text>'
        )
    return "".join(parts)

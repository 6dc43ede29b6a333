"""The picture of an op's errors: a panel for each dtype, a row for each quantity, on a log axis."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from html import escape

from .accuracy import Call, Row, libraries

SCALE = ", relative to the largest element of a result"
"""Units of the errors of calls."""

LOWEST = -17
"""The exponent at the left end, where an error of zero is shown; an error of 1 is at the right."""

_LABELS, _AXIS, _MARGIN = 122.0, 190.0, 16.0
_LEFT = 2
"""Left end of texts: letters such as J reach out to the left."""
_WIDTH = _LABELS + _AXIS + _MARGIN
_HEAD, _FOOT, _ROW, _LANE = 22.0, 26.0, 22.0, 6.0


def power(exponent: int, sign: str = "") -> str:
    """A power of ten in a picture; few fonts have small digits, so that these are set by hand."""
    if not exponent:
        return f"{sign}1"
    small = str(exponent).replace("-", "−")
    return f'{sign}10<tspan dy="-3.5" font-size="7.5">{small}</tspan>'


_TICKS = ((LOWEST, "0"), *((exponent, power(exponent)) for exponent in (-12, -8, -4, 0)))


def errors_picture(name: str, rows: Sequence[Row], called: Call | None = None) -> str:
    """Return a figure of the worst relative errors of an op; empty where nothing was measured."""
    if not rows:
        return ""
    panels = "".join(
        _panel(name, dtype, [row for row in rows if row.dtype == dtype])
        for dtype in dict.fromkeys(row.dtype for row in rows)
    )
    over = "the points of the sweep" if called is None else "all factors"
    said = f"Worst relative error against 50 digits, over {over}: "
    if called is not None and not called.scaled:
        said = f"Relative error of `{called.text}` against 50 digits{SCALE}: "
    said += "0 is exact, at 1 no digit is right; the dashed line is the bound of the linter"
    if any(row.settings for row in rows):
        said += "; a mark for each setting of the numbers"
    return (
        f'<figure class="errors"><div class="panels">{panels}</div>{_legend(libraries(rows))}'
        f"<figcaption>{as_html(said)}.</figcaption></figure>"
    )


def as_html(text: str) -> str:
    """A text with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))


def _panel(name: str, dtype: str, rows: Sequence[Row]) -> str:
    groups: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: _rank(row.quantity)):
        groups.setdefault(_short(row.quantity), []).append(row)
    bottom = _HEAD + _ROW * len(groups)
    title = f'<text class="title" x="{_LEFT}" y="13">{dtype}</text>'
    parts = [title, *_axis(bottom, rows[0].bound)]
    for number, (label, members) in enumerate(groups.items()):
        y = _HEAD + _ROW * (number + 0.5)
        parts.append(f'<text x="{_LEFT}" y="{y + 4:.0f}">{escape(label)}</text>')
        present = libraries(members)
        for lane, library in enumerate(present):
            middle = y + _LANE * (lane - (len(present) - 1) / 2)
            parts += _marks(library, members, middle)
    return (
        f'<svg viewBox="0 0 {_WIDTH:.0f} {bottom + _FOOT:.0f}" role="img" '
        f'aria-label="{escape(_told(name, dtype, rows))}">{"".join(parts)}</svg>'
    )


def _axis(bottom: float, bound: float) -> Iterator[str]:
    for exponent, text in _TICKS:
        x = _x(10.0**exponent)
        yield f'<line class="axis" x1="{x:.0f}" y1="{_HEAD}" x2="{x:.0f}" y2="{bottom}"/>'
        yield f'<text class="tick" x="{x:.0f}" y="{bottom + 14}" text-anchor="middle">{text}</text>'
    x = _x(bound)
    yield f'<line class="bound" x1="{x:.1f}" y1="{_HEAD - 6}" x2="{x:.1f}" y2="{bottom}"/>'


def _marks(library: str, rows: Sequence[Row], y: float) -> Iterator[str]:
    """A line to the worst error of a library, and a mark for each setting."""
    found = [(row, row.worst[library]) for row in rows if library in row.worst]
    kind = library.lower()
    furthest = max(_x(error) for _, error in found)
    yield f'<path class="stem {kind}" d="M{_x(0.0):.0f} {y:.1f}H{furthest:.1f}"/>'
    told: dict[str, list[str]] = {}
    for row, error in found:
        at = f"M{_x(error):.1f} {y:.1f}"
        told.setdefault(at, []).append(f"{row.settings or 'as it is'}: {written(error)}")
    for at, texts in told.items():
        title = escape(f"{library}, {rows[0].quantity}, {rows[0].dtype}: {'; '.join(texts)}")
        title = title.replace(": as it is: ", ": ")
        yield f'<path class="mark {kind}" d="{at}{_SHAPES[library]}"><title>{title}</title></path>'


_SHAPES = {
    "gradspec": "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
    "PyTorch": "m-3 -3h6v6h-6z",
    "JAX": "m0 -4l4 7h-8z",
}


def _x(error: float | None) -> float:
    """Position of an error on the scale; None is an answer without a right digit."""
    if error is None:
        return _LABELS + _AXIS
    exponent = math.log10(error) if error > 0 else LOWEST
    share = (min(max(exponent, LOWEST), 0) - LOWEST) / -LOWEST
    return _LABELS + _AXIS * share


def written(error: float | None) -> str:
    """An error as text."""
    if error is None:
        return "no digit"
    return f"{error:.0e}" if error else "exact"


def _short(quantity: str) -> str:
    kind, _, by = quantity.replace(" of ", " by ").partition(" by ")
    named = {"forward": "value", "second derivative": "∂²"}.get(kind, kind)
    return f"{named} by {by}" if by and named != "∂²" else f"{named} {by}".strip()


def _rank(quantity: str) -> int:
    kinds = ("forward", "VJP", "JVP", "second")
    return next(n for n, kind in enumerate(kinds) if quantity.startswith(kind))


def _told(name: str, dtype: str, rows: Sequence[Row]) -> str:
    parts = []
    for library in libraries(rows):
        errors = [row.worst[library] for row in rows if library in row.worst]
        known = [error for error in errors if error is not None]
        worst = max(known) if len(known) == len(errors) else None
        parts.append(f"{library} {written(worst)}")
    return f"Worst relative errors of {name} in {dtype}: {', '.join(parts)}"


def _legend(names: Sequence[str]) -> str:
    places = "".join(
        f'<path class="mark {library.lower()}" d="M{8 + 90 * n} 9{_SHAPES[library]}"/>'
        f'<text x="{18 + 90 * n}" y="13">{library}</text>'
        for n, library in enumerate(names)
    )
    return f'<svg class="legend" viewBox="0 0 300 18" aria-hidden="true">{places}</svg>'

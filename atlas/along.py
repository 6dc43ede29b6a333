"""The picture of an op's errors along its first argument: a panel for each quantity and dtype."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import chain

from benchmarks.accuracy.along import EDGES, LETTERS, NOWHERE

from .accuracy import Along, Call
from .errors import SCALE, as_html, power

_WIDTH, _HEIGHT = 330.0, 128.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 36.0, 8.0, 22.0, 18.0

_ERRORS = ((17, "0"), *((digits, power(-digits)) for digits in (12, 8, 4, 0)))
"""The right digits of the lines across a panel, and what is beside them."""


def along_picture(name: str, rows: Sequence[Along], called: Call | None = None) -> str:
    """Return a figure of the errors of an op; empty where nothing was measured."""
    if not rows:
        return ""
    panels = "".join(_panel(name, row) for row in rows)
    said = "Relative error against 50 digits along the first argument, on a logarithmic axis"
    if rows[0].settings:
        said += f", for {rows[0].settings}"
    said += "; the worst of each half decade, also over other arguments. At 1 no digit is right."
    if called is not None:
        said = f"Error of `{called.text}` against 50 digits{SCALE}, where its `{called.scaled}` is "
        said += "multiplied by the number on the axis. At 1 no digit is right."
    libraries = dict.fromkeys(library for row in rows for library in row.letters)
    return (
        f'<figure class="errors along"><div class="panels">{panels}</div>{_legend([*libraries])}'
        f"<figcaption>{as_html(said)}</figcaption></figure>"
    )


def _panel(name: str, row: Along) -> str:
    places = [n for letters in row.letters.values() for n, x in enumerate(letters) if x != NOWHERE]
    first, last = min(places), max(places)
    parts = [f'<text class="title" x="0" y="11">{escape(_title(row))}</text>']
    parts += chain(_levels(), _ticks(first, last))
    # Ours last, so that it is not hidden where all agree.
    for library in reversed(row.letters):
        path = "L".join(_places(row.letters[library], first, last))
        path += "h0" * ("L" not in path)
        told = escape(f"{library}: {_worst(row.letters[library])}")
        kind = library.lower()
        parts.append(f'<path class="line {kind}" d="M{path}"><title>{told}</title></path>')
    said = f"Errors of {name}, {_title(row)}: {_told(row.letters)}"
    return (
        f'<svg viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" role="img" '
        f'aria-label="{escape(said)}">{"".join(parts)}</svg>'
    )


def _legend(names: Sequence[str]) -> str:
    parts = "".join(
        f'<path class="line {library.lower()}" d="M{100 * n + 2} 9h22"/>'
        f'<text x="{100 * n + 30}" y="13">{library}</text>'
        for n, library in enumerate(names)
    )
    return f'<svg class="legend" viewBox="0 0 300 18" aria-hidden="true">{parts}</svg>'


def _title(row: Along) -> str:
    quantity = "value" if row.quantity == "forward" else row.quantity.replace(" of ", " by ")
    return f"{quantity}, {row.dtype}"


def _levels() -> Iterator[str]:
    """The lines across, which stand for errors."""
    for digits, text in _ERRORS:
        y = _y(digits)
        yield f'<path class="axis" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
        yield f'<text class="tick" x="{_LEFT - 5}" y="{y + 3:.1f}" text-anchor="end">{text}</text>'


def _ticks(first: int, last: int) -> Iterator[str]:
    """Return whether the argument is a round power of ten, or so small that it may be zero."""
    for exponent in (-8, -4, 0, 4):
        for sign in (1, -1):
            place = EDGES.index(sign * 10.0**exponent) + 0.5
            if not first <= place <= last or (exponent == -8 and sign < 0 and last > place):
                continue
            text = power(exponent, "" if sign > 0 else "−")
            if exponent == -8 and first < place - 1:
                text = power(exponent, "±")
                place -= 0.5
            x = _x(place, first, last)
            y = _HEIGHT - 4
            yield f'<text class="tick" x="{x:.1f}" y="{y}" text-anchor="middle">{text}</text>'


def _places(letters: str, first: int, last: int) -> Iterator[str]:
    for place, letter in enumerate(letters):
        if letter != NOWHERE:
            yield f"{_x(place, first, last):.1f} {_y(LETTERS.index(letter) / 2):.1f}"


def _x(place: float, first: int, last: int) -> float:
    return _LEFT + (_WIDTH - _RIGHT - _LEFT) * (place - first) / max(last - first, 1)


def _y(digits: float) -> float:
    return _TOP + (_HEIGHT - _BOTTOM - _TOP) * digits / 17


def _told(letters: Mapping[str, str]) -> str:
    return "; ".join(f"{library} {_worst(found)}" for library, found in letters.items())


def _worst(letters: str) -> str:
    """The worst error, and for which arguments."""
    digits, place = min(
        (LETTERS.index(letter), place) for place, letter in enumerate(letters) if letter != NOWHERE
    )
    if digits == len(LETTERS) - 1:
        return "exact"
    error = "no digit" if digits == 0 else f"at worst {10 ** (-digits / 2):.0e}"
    low, high = (-math.inf, *EDGES)[place], (*EDGES, math.inf)[place]
    return f"{error}, between {low:.2g} and {high:.2g}"

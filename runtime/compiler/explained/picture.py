"""The arena as a picture: bytes from top to bottom, groups from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from ...viz.style import FONT, FONT_SIZE
from .memory import MemoryPlan, Storage

_COLUMN: Final = 34
"""Pixels of a group."""
_HEIGHT: Final = 360
"""Pixels of all bytes."""
_LEFT: Final = 90
_TOP: Final = 40
_NAMED_FROM: Final = FONT_SIZE
"""Pixels of a box that has room for a name."""
_FILLS: Final = ("#a5d8ff", "#b2f2bb", "#ffec99", "#ffc9c9", "#bac8ff")


def arena_svg(memory: MemoryPlan) -> str:
    """Return the text of an SVG file: a box for each value of the arena, as long as it lives."""
    arena = [each for each in memory.storages if each.kind == "arena"]
    groups = max([each.last for each in arena], default=1)
    nbytes = max([_end(each) for each in arena], default=1)
    width, height = _LEFT + groups * _COLUMN + 20, _TOP + _HEIGHT + 20
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="{FONT}, Arial, sans-serif" font-size="{FONT_SIZE}">',
        f"<title>arena of {nbytes:,} bytes</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_LEFT}" y="14">groups</text>',
        f'<text x="8" y="{_TOP + 10}">0</text>',
        f'<text x="8" y="{_TOP + _HEIGHT}">{nbytes:,} bytes</text>',
    ]
    lines += [
        f'<text x="{_LEFT + (nr - 0.5) * _COLUMN}" y="32" text-anchor="middle">{nr}</text>'
        for nr in range(1, groups + 1)
    ]
    lines += _boxes(arena, _HEIGHT / nbytes)
    return "\n".join([*lines, "</svg>", ""])


def _boxes(arena: Sequence[Storage], scale: float) -> list[str]:
    """Return the boxes, each with what it is as a tooltip."""
    lines = []
    for nr, each in enumerate(arena):
        x, wide = _LEFT + (each.first - 1) * _COLUMN, (each.last - each.first + 1) * _COLUMN
        y, high = _TOP + (each.offset or 0) * scale, each.nbytes * scale
        what = f"{each.value}, {each.nbytes:,} bytes, groups {each.first}–{each.last}"
        lines.append(
            f'<rect x="{x}" y="{y:.2f}" width="{wide}" height="{high:.2f}" stroke="#495057" '
            f'fill="{_FILLS[nr % len(_FILLS)]}"><title>{escape(what)}</title></rect>'
        )
        if high >= _NAMED_FROM:
            middle = f'x="{x + wide / 2}" y="{y + high / 2 + FONT_SIZE / 3:.2f}"'
            lines.append(
                f'<text {middle} text-anchor="middle" pointer-events="none">'
                f"{escape(each.value.name)}</text>"
            )
    return lines


def _end(storage: Storage) -> int:
    return (storage.offset or 0) + storage.nbytes

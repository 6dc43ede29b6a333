"""The page of the benchmarks: the README's table, and the same as a picture."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from html import escape

from .sources import ROOT

_BEGIN, _END = "<!-- measured: make bench -->", "<!-- end of what was measured -->"

_SCALES = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "MB": 1.0}

_COLOURS = {
    "gradspec": "#1971c2",
    "PyTorch": "#f76707",
    "torch": "#f76707",
    "JAX": "#5c940d",
    "autograd": "#ae3ec9",
    "MyGrad": "#e64980",
    "NumPy": "#868e96",
}
"""By the first word of a column's head, one for each library; seen on white and on dark grounds."""

_DOT = "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z"
_DIAMOND = "m0-6l6 6l-6 6l-6-6z"

_SIZES = (
    '<figure class="plot"><img src="images/sizes.svg" alt="Seconds by number of elements">'
    "<figcaption>Ten ops in a row, with gradients, on 1 to 10⁷ elements.</figcaption></figure>"
)

_ROW, _LEFT, _WIDTH = 24.0, 430.0, 960.0


def benchmarks_page() -> str:
    """Return the page as Markdown."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme[readme.index("## Performance") : readme.index("## What is supported")]
    before, _, rest = section.partition(_BEGIN)
    measured, _, after = rest.partition(_END)
    text = before.replace("## Performance", "# Benchmarks").strip()
    after = after.replace("docs/performance.md", "performance.md").strip()
    parts = (text, plot(measured), _SIZES, measured.strip(), after)
    return "---\nhide: [toc]\n---\n\n" + "\n\n".join(parts) + "\n"


def plot(markdown: str) -> str:
    """The table as dots: the time of each library relative to gradspec's, on a logarithmic axis."""
    lines = [line.strip("|").split("|") for line in markdown.splitlines() if line.startswith("|")]
    heads = [cell.strip() for cell in lines[0]][1:]
    rows = [(cells[0].strip().replace("`", ""), [*map(_figure, cells[1:])]) for cells in lines[2:]]
    rows = [(title, f) for title, f in rows if f[0] and len(f) - f.count(None) > 2]
    ratios = [
        [f / figures[0] if f and figures[0] else None for f in figures] for _, figures in rows
    ]
    logs = [math.log10(r) for row in ratios for r in row if r]
    low, high = math.floor(min(logs)), math.ceil(max(logs))
    height = 40 + _ROW * len(rows)

    def x(ratio: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 20) * (math.log10(ratio) - low) / (high - low)

    parts = [
        f'<line class="axis" x1="{x(10.0**n):.0f}" y1="30" x2="{x(10.0**n):.0f}" y2="{height}"/>'
        f'<text x="{x(10.0**n):.0f}" y="22" text-anchor="middle">{10.0**n:g}×</text>'
        for n in range(low, high + 1)
    ]
    for number, ((title, _), row) in enumerate(zip(rows, ratios, strict=True)):
        y = 46 + _ROW * number
        short = title if len(title) < 69 else title[:64] + "…"
        parts.append(
            f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">'
            f"<title>{escape(title)}</title>{escape(short)}</text>"
        )
        # Ours last, so that it is not hidden where all agree.
        for head, ratio in reversed([*zip(heads, row, strict=True)]):
            if ratio:
                said = f"{head}: {ratio:.3g} times that of gradspec"
                parts.append(_mark(head, x(ratio), y, f"<title>{escape(said)}</title>"))
    legend, bottom = _legend(heads, height + 22)
    said = "Time or memory of each library relative to gradspec's, for each row of the table below"
    return (
        f'<figure class="plot"><svg viewBox="0 0 {_WIDTH:.0f} {bottom:.0f}" role="img" '
        f'aria-label="{said}">{"".join(parts)}{legend}</svg>'
        f"<figcaption>{said}; left is better.</figcaption></figure>"
    )


def _legend(heads: Sequence[str], y: float) -> tuple[str, float]:
    """Return the legend in as many lines as it needs, and where it ends."""
    parts, x = [], 14.0
    for head in heads:
        length = 36 + 6.5 * len(head)
        if x + length > _WIDTH:
            x, y = 14.0, y + 22
        parts.append(
            _mark(head, x, y) + f'<text x="{x + 12:.0f}" y="{y + 4}">{escape(head)}</text>'
        )
        x += length
    return "".join(parts), y + 18


def _mark(head: str, x: float, y: float, title: str = "") -> str:
    """A dot for what runs eagerly, hollow for one thread; a diamond for what is compiled."""
    is_compiled = "compile" in head or "jit" in head
    shape = f"M{x:.1f} {y}{_DIAMOND if is_compiled else _DOT}"
    colour = _COLOURS[re.split(r"\W", head)[0]]
    filled = "none" if "1 thread" in head else colour
    return f'<path d="{shape}" fill="{filled}" stroke="{colour}" stroke-width="1.5">{title}</path>'


def _figure(cell: str) -> float | None:
    found = re.fullmatch(r"([\d.]+) (s|ms|µs|MB)", cell.strip())
    return float(found[1]) * _SCALES[found[2]] if found else None

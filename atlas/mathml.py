"""Formulas as MathML, which browsers set by themselves: no script, no fonts from elsewhere."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from xml.etree import ElementTree

_DISPLAY = "block"
_SPACE = "http://www.w3.org/1998/Math/MathML"
_BAR = "\u2015"


@cache
def mathml(tex: str, label: str = "") -> str:
    """A formula in display style; `label` is what a reader of the screen may say before it."""
    from latex2mathml.converter import convert

    # The converter knows rows with marks to align them at by the name of AMS-LaTeX's display.
    text = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{align*}", tex)
    # It would set a word as a product of letters: as text it stays one.
    text = text.replace(r"\mathit{", r"\textit{").replace(r"\operatorname{", r"\text{")
    # Text is taken as it is, so that nothing in it may be escaped.
    text = re.sub(r"\\text(it)?\{[^}]*\}", lambda found: found[0].replace(r"\_", "_"), text)
    found = convert(text, display=_DISPLAY)
    found = re.sub(r">\s+<", "><", found)
    found = _with_bars(found)
    spoken = f' aria-label="{escape(label)}"' if label else ""
    return f'<div class="formula" tabindex="0" role="math"{spoken}>{found}</div>'


def _with_bars(math: str) -> str:
    """A formula whose bars are borders, which are as long as what is below them.

    Those of fonts are put together of pieces, and seldom fit.
    """
    if f"&#x{ord(_BAR):05X};" not in math:
        return math
    ElementTree.register_namespace("", _SPACE)
    root = ElementTree.fromstring(math)
    for over in root.iter(f"{{{_SPACE}}}mover"):
        if over[1].text == _BAR:
            over.remove(over[1])
            over.tag = f"{{{_SPACE}}}mrow"
            over.set("class", "bar")
    return ElementTree.tostring(root, encoding="unicode")

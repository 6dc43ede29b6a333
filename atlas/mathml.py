"""Formulas as MathML, which browsers set by themselves: no script, no fonts from elsewhere."""

from __future__ import annotations

import re
from functools import cache
from html import escape

_DISPLAY = "block"


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
    # A bar that a font can stretch over a whole expression.
    found = found.replace('<mo accent="true">&#x02015;</mo>', '<mo stretchy="true">&#x0203E;</mo>')
    spoken = f' aria-label="{escape(label)}"' if label else ""
    return f'<div class="formula" tabindex="0" role="math"{spoken}>{found}</div>'

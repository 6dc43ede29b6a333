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

    # Text is taken as it is, so that nothing in it may be escaped.
    plain = re.sub(r"\\text\{[^}]*\}", lambda text: text[0].replace(r"\_", "_"), tex)
    found = convert(plain, display=_DISPLAY)
    found = re.sub(r">\s+<", "><", found)
    spoken = f' aria-label="{escape(label)}"' if label else ""
    return f'<div class="formula" tabindex="0" role="math"{spoken}>{found}</div>'

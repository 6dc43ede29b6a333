"""The font of the formulas: the characters that are used, of one that a package ships."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import as_file, files
from pathlib import Path

_ALWAYS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+−-=()[]{}|,.<>/∂·√"
"""Also what elements draw, and no text of them says, such as the sign of a root."""


def write_math_font(texts: Iterable[str], path: Path) -> None:
    """Write a WOFF with the characters of some texts, and what sets them as formulas."""
    from fontTools import subset
    from fontTools.ttLib import TTFont

    characters = {ord(c) for text in texts for c in text} | set(map(ord, _ALWAYS))
    characters |= {_italic(c) for c in characters} - {0}
    options = subset.Options(layout_features=["*"], notdef_outline=True, hinting=False)
    with as_file(files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf") as source:
        font = TTFont(source)
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=characters)
        subsetter.subset(font)
        font.flavor = "woff"
        font.save(path)


def _italic(point: int) -> int:
    """The italic letter by which MathML shows a variable of one letter; 0 for other characters."""
    letter = chr(point)
    if letter == "h":
        return 0x210E
    if "a" <= letter <= "z":
        return 0x1D44E + point - ord("a")
    if "A" <= letter <= "Z":
        return 0x1D434 + point - ord("A")
    if "α" <= letter <= "ω":
        return 0x1D6FC + point - ord("α")
    return 0

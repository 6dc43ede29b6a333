"""Map the characters of a YAML scalar's value to those of the file."""

from __future__ import annotations

_ESCAPE_WIDTHS = {"x": 4, "u": 6, "U": 10}


def value_offsets(value: str, raw: str, style: str) -> tuple[int, ...]:
    """For each character of `value` its offset in `raw`, and the offset of the end.

    `raw` is the scalar as written, quotes and block header included. Folding turns line ends and
    indents to blanks, so blanks are matched loosely; every other character is exact.
    """
    if value == raw:
        return tuple(range(len(raw) + 1))
    position = _first_offset(raw, style)
    offsets: list[int] = []
    for character in value:
        position = _next_match(character, raw, position, style)
        offsets.append(min(position, max(len(raw) - 1, 0)))
        position += _width(raw, position, style)
    return (*offsets, min(position, len(raw)))


def _first_offset(raw: str, style: str) -> int:
    if style in ("|", ">"):
        return raw.find("\n") + 1
    return len(style)


def _next_match(character: str, raw: str, position: int, style: str) -> int:
    """The first place from `position` on that can stand for `character`."""
    while position < len(raw):
        here = raw[position]
        if here == character or (here.isspace() and character.isspace()):
            break
        if style == '"' and raw.startswith("\\\n", position):
            # An escaped line end stands for nothing.
            position += 2
        elif here.isspace():
            position += 1
        else:
            break
    return position


def _width(raw: str, position: int, style: str) -> int:
    """Count the characters of `raw` that one character of the value took."""
    pair = raw[position : position + 2]
    if style == "'" and pair == "''":
        return 2
    if style == '"' and pair.startswith("\\"):
        return _ESCAPE_WIDTHS.get(pair[1:], 2)
    return 1

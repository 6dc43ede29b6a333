"""Values, steps and numbers as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, Final

from ..program import Loop, Place, Step, Value

WIDTH: Final = 96
"""Characters of a line of words."""


def step_lines(step: Step, before: str) -> list[str]:
    """Return a step as text; below a loop is what a round of it does."""
    outputs = ", ".join(map(str, step.outputs))
    lines = [f"{before}{outputs} = {_called(step)}  {step.place}".rstrip()]
    if step.function == "array.loop":
        body = step.args[0].body
        within = " " * (len(before) + 2)
        lines.append(f"{within}from {', '.join(map(str, body.inputs))}")
        for inner in body.steps:
            lines += step_lines(inner, within)
        lines.append(f"{within}to {', '.join(value.name for value in body.outputs)}")
    return lines


def heading(text: str) -> str:
    """Return a line with a rule below."""
    return f"{text}\n{'-' * len(text)}"


def wrapped(words: Iterable[str], before: str = "", end: str = "") -> list[str]:
    """Return words side by side, on as many lines as they need."""
    lines: list[str] = []
    line = ""
    for word in words:
        if line and len(line) + len(word) > WIDTH:
            lines.append(f"{before}{line}{end}")
            line = ""
        line += f"{end} {word}" if line else word
    return [*lines, f"{before}{line}"] if line else lines


def count(number: int, what: str) -> str:
    """Return a number of things, which are several by an s."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def points(dims: Sequence[int], what: str = "point") -> str:
    """Return the points of loops of some lengths: `4×8 points`."""
    if prod(dims) == 1:
        return f"one {what}"
    return f"{'×'.join(map(str, dims))} {what}s"


def names(values: Iterable[Value]) -> str:
    """Return the names of values."""
    return ", ".join(value.name for value in values)


def where(place: Place) -> str:
    """Return the line of the user's program, by the name of the file alone."""
    return f"{Path(place.file).name}:{place.line}" if place.line else ""


def short(function: str) -> str:
    """Return the name of a step's function as the groups have it."""
    return function.removeprefix("np.").removeprefix("array.")


def _called(step: Step) -> str:
    """A step as a call, with the names of values."""
    texts = [_text(arg) for arg in step.args]
    texts += [f"{name}={_text(value)}" for name, value in step.kwargs.items()]
    return f"{step.function}({', '.join(texts)})"


def _text(structure: Any) -> str:
    if isinstance(structure, Value):
        return structure.name
    if isinstance(structure, Loop):
        rounds = "while true" if structure.length is None else f"{structure.length} rounds"
        return f"{rounds} backward" if structure.is_reversed else rounds
    if isinstance(structure, tuple):
        return f"({', '.join(map(_text, structure))})"
    if isinstance(structure, list):
        return f"[{', '.join(map(_text, structure))}]"
    if isinstance(structure, Mapping):
        return f"{{{', '.join(f'{key}: {_text(value)}' for key, value in structure.items())}}}"
    if isinstance(structure, slice):
        return ":".join("" if x is None else _text(x) for x in (structure.start, structure.stop))
    return repr(structure)

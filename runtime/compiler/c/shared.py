"""Nests that differ in nothing but their values, as of a loop that Python has unrolled.

Each of them is one C function, so that a compiler reads it once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ..program import Value
from .scalars import C_TYPES

_IDENTIFIER: Final = re.compile(r"\b[A-Za-z]\w*\b")
_ENDING: Final = re.compile(r"_(?:sum|all|row|at\d+)$")


@dataclass
class Body:
    """The lines of a nest, with the names of its values replaced by those of parameters."""

    name: str
    lines: tuple[str, ...]
    parameters: tuple[str, ...]
    """Declarations of the pointers that it takes."""
    uses: int = 0


@dataclass
class Bodies:
    """The nests of a program, each once."""

    found: dict[tuple[tuple[str, ...], tuple[str, ...]], Body] = field(default_factory=dict)

    def add(
        self, lines: list[str], made: Iterable[Value], pointers: Mapping[Value, None]
    ) -> tuple[Body, str]:
        """Return the function that has these lines, and the call of it in their place."""
        names: dict[str, str] = {}
        known = {value.name for value in (*made, *pointers)}

        def renamed(match: re.Match[str]) -> str:
            text = match.group()
            prefix = "p_" if text.startswith("p_") else ""
            name, ending = text[len(prefix) :], ""
            if name not in known:
                found = _ENDING.search(name)
                if found is None or name[: found.start()] not in known:
                    return text
                name, ending = name[: found.start()], found.group()
            names.setdefault(name, f"a{len(names)}")
            return f"{prefix}{names[name]}{ending}"

        common = tuple(_IDENTIFIER.sub(renamed, line) for line in lines)
        taken = sorted((value for value in pointers), key=lambda value: _number(names, value))
        parameters = tuple(
            f"{C_TYPES[value.dtype]} *p_{names.get(value.name, value.name)}" for value in taken
        )
        body = self.found.setdefault(
            (common, parameters), Body(f"nest{len(self.found)}", common, parameters)
        )
        body.uses += 1
        return body, f"{body.name}({', '.join(f'p_{value.name}' for value in taken)});"


def _number(names: Mapping[str, str], value: Value) -> int:
    return int(names.get(value.name, "a-1")[1:])

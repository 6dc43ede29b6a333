"""Names of the functions of a library, and the form of a program in it.

Each library has a table beside this file. `ops` spells functions as the tables of `targets` do;
`modes` are the lines that differentiate `f` at `{t}`, the last of them the value.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import Any

import yaml

from ..spec.model import OpSpec
from ..targets.frameworks import FRAMEWORKS, Spelling, framework

LIBRARIES = ("torch", "jax", "autograd", "mygrad")
"""The libraries that can be audited."""


@dataclass(frozen=True, slots=True)
class Library:
    """One library, as its table describes it."""

    name: str
    title: str
    prelude: tuple[str, ...]
    """The first lines of a program."""
    array: str
    """An array of the library of a literal `{data}`."""
    dtype: str
    """A dtype by its `{name}`."""
    total: str
    """The weighted sum of outputs, of real numbers."""
    complex_total: str
    ops: Mapping[str, Spelling]
    absent: frozenset[str]
    inherits: bool
    """True if the names of a target for generated code hold here, too."""
    shorten: Mapping[str, str]
    """Modules that spellings name, with their full names."""
    modes: Mapping[str, tuple[str, ...]]
    also: Mapping[str, Spelling]
    """Further functions that compute the same, by the op."""
    most_questions: int = 1000
    """Number of questions about one op: fewer where each takes long."""

    @property
    def version(self) -> str:
        """The version that is installed; empty if none is."""
        try:
            return version(self.name)
        except PackageNotFoundError:
            return ""

    def with_others(self) -> Library | None:
        """The library with its further functions in the place of those that they are like."""
        return dataclasses.replace(self, ops=self.also, inherits=False) if self.also else None

    def has(self, op: OpSpec) -> bool:
        """Return whether there may be a function for an op, whatever arguments are given."""
        if {op.name, op.signature.name} & self.absent:
            return False
        if op.name in self.ops or op.signature.name in self.ops:
            return True
        if op.is_private or not self.inherits:
            return False
        return framework(self.name).op(op, op.signature.name) is not None

    def spelling(self, op: OpSpec, given: frozenset[str]) -> str | None:
        """The text of a call of an op, with the arguments in braces; None if there is none."""
        if not self.has(op):
            return None
        found = self.ops.get(op.name) or self.ops.get(op.signature.name)
        if found is None and self.inherits:
            found = framework(self.name).op(op, op.signature.name, given)
        if found is None or ".ops.aten." in found.text:
            return None
        if found.text.endswith("(*)"):
            text = found.text.removesuffix("*)") + _as_called(op, given) + ")"
        else:
            if not given <= found.arguments | found.ignored:
                return None
            text = found.filled(given, lambda name, _: "{" + name + "}")
        return re.sub(r"(?<![\w.])(\w+)(?=\.)", lambda m: self.shorten.get(m[1], m[1]), text)


def _as_called(op: OpSpec, given: frozenset[str]) -> str:
    """The arguments of a call: tensors by position, the others by name."""
    words = []
    positional = True
    for param in op.signature.params:
        if param.name not in given:
            positional = False
            continue
        by_place = positional and not param.keyword_only and param.type.base == "Tensor"
        positional = by_place
        place = "{" + param.name + "}"
        words.append(place if by_place else f"{param.public}={place}")
    return ", ".join(words)


@functools.cache
def library(name: str) -> Library:
    """Read the table of a library."""
    text = (files(__package__) / f"{name}.yaml").read_text(encoding="utf-8")
    table: dict[str, Any] = yaml.safe_load(text)
    return Library(
        name=name,
        title=table["title"],
        prelude=tuple(table["prelude"]),
        array=table["array"],
        dtype=table["dtype"],
        total=table["total"],
        complex_total=table["complex_total"],
        ops={key: Spelling(text) for key, text in table.get("ops", {}).items()},
        absent=frozenset(table.get("absent", "").split()),
        inherits=name in FRAMEWORKS,
        shorten=table.get("shorten", {}),
        also={key: Spelling(text) for key, text in table.get("also", {}).items()},
        modes={mode: tuple(lines.splitlines()) for mode, lines in table["modes"].items()},
        most_questions=table.get("most_questions", 1000),
    )

"""One shared object for programs that differ in numbers only, as those of several sizes do.

The first program of a family is built as it is. The second, if its C is the same but for numbers,
is built with variables in place of the numbers that differ; further programs take that, with
numbers of their own, and need no compiler. Where the C differs in more, it is built again.
"""

from __future__ import annotations

import _ctypes
import ctypes
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from . import toolchain
from .toolchain import NoCompilerError

_TOKEN: Final = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
    |(?P<other>"[^"\n]*"|'[^'\n]*'|[A-Za-z_]\w*|\#[^\n]*|0[xX][0-9a-fA-F]+|\d+[uUlL]+)
    |(?P<float>(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?f)\b
    |(?P<double>(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<long>\d+)""",
    re.VERBOSE | re.DOTALL,
)
_FUNCTION: Final = re.compile(r"^(?:static |const char \*)[^\n;]*\{$", re.MULTILINE)
_INCLUDE: Final = "#include <stdint.h>\n"
_TABLES: Final = {"long": "gs_wholes", "double": "gs_reals", "float": "gs_reals"}


@dataclass
class _Text:
    """C that is taken apart: what is no number, and the numbers with their types."""

    skeleton: str
    numbers: tuple[str, ...]
    types: tuple[str, ...]
    places: tuple[tuple[int, int], ...]


def _taken_apart(text: str) -> _Text:
    pieces, numbers, types, places, end = [], [], [], [], 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "other":
            continue
        pieces.append(text[end : match.start()])
        end = match.end()
        if kind != "comment":
            pieces.append(f"<{kind}>")
            numbers.append(match.group())
            types.append(str(kind))
            places.append(match.span())
    pieces.append(text[end:])
    return _Text("".join(pieces), tuple(numbers), tuple(types), tuple(places))


@dataclass
class _Variant:
    """The programs that have a skeleton in common."""

    first: _Text
    groups: dict[tuple[str, ...], list[int]] = field(default_factory=dict)
    """Numbers that differ, by what they were in the programs so far: one variable each."""
    known: list[tuple[str, ...]] = field(default_factory=list)
    path: Path | None = None
    is_refused: bool = False
    """True if the compiler did not accept variables in place of the numbers."""

    def fits(self, numbers: Sequence[str]) -> bool:
        """Return whether what was built does for a program with these numbers."""
        if self.path is None:
            return False
        varying = {at for places in self.groups.values() for at in places}
        if any(
            ours != theirs and at not in varying
            for at, (ours, theirs) in enumerate(zip(self.first.numbers, numbers, strict=True))
        ):
            return False
        return all(len({numbers[at] for at in places}) == 1 for places in self.groups.values())

    def learn(self, numbers: tuple[str, ...]) -> None:
        """Let numbers be variables that differ from those of the programs before."""
        self.known.append(numbers)
        self.groups = {}
        for at, found in enumerate(zip(*self.known, strict=True)):
            if len(set(found)) > 1:
                self.groups.setdefault((self.first.types[at], *found), []).append(at)


@dataclass
class SharedTexts:
    """Builds of the programs of a family."""

    variants: dict[str, _Variant] = field(default_factory=dict)

    def load(self, text: str) -> ctypes.CDLL:
        """Return a library of a program, the numbers of which are set if they are variables."""
        found = _taken_apart(text)
        variant = self.variants.get(found.skeleton)
        if variant is None:
            self.variants[found.skeleton] = _Variant(found, known=[found.numbers])
        if variant is None or variant.is_refused or found.numbers in variant.known[:1]:
            return ctypes.CDLL(str(toolchain.program(text)))
        if not variant.fits(found.numbers):
            variant.learn(found.numbers)
            try:
                variant.path = toolchain.program(_with_variables(text, found, variant))
            except NoCompilerError:
                variant.is_refused = True
                return ctypes.CDLL(str(toolchain.program(text)))
        assert variant.path is not None
        return _filled(variant.path, variant, found)


def _with_variables(text: str, found: _Text, variant: _Variant) -> str:
    """Return a program that reads the numbers of a variant from tables."""
    declarations, names = [], {}
    for number, ((kind, *_), places) in enumerate(variant.groups.items()):
        name = f"gs_n{number}"
        declarations.append(f"    const {kind} {name} = ({kind}){_TABLES[kind]}[{number}];\n")
        names.update(dict.fromkeys(places, name))
    pieces, end = [], 0
    for at in sorted(names):
        start, stop = found.places[at]
        pieces += [text[end:start], names[at]]
        end = stop
    text = "".join((*pieces, text[end:]))
    count = len(variant.groups)
    tables = f"long gs_wholes[{count}];\ndouble gs_reals[{count}];\n"
    return _declared(text, declarations).replace(_INCLUDE, _INCLUDE + tables, 1)


def _declared(text: str, declarations: Sequence[str]) -> str:
    """Let each function have the variables that it uses."""
    starts = [match.end() for match in _FUNCTION.finditer(text)]
    pieces = [text[: starts[0]]] if starts else [text]
    for start, stop in zip(starts, [*starts[1:], len(text)], strict=True):
        body = text[start:stop]
        used = {int(number) for number in re.findall(r"\bgs_n(\d+)\b", body)}
        pieces += ["\n", *(declarations[number] for number in sorted(used)), body[1:]]
    return "".join(pieces)


def _filled(path: Path, variant: _Variant, found: _Text) -> ctypes.CDLL:
    """Load a copy of a library, whose variables are its own, and set them."""
    handle, name = tempfile.mkstemp(suffix=".so", dir=path.parent, prefix="size-")
    os.close(handle)
    try:
        shutil.copyfile(path, name)
        os.chmod(name, 0o700)
        library = ctypes.CDLL(name)
    finally:
        os.unlink(name)
    weakref.finalize(library, _ctypes.dlclose, library._handle).atexit = False
    count = len(variant.groups)
    wholes: Any = (ctypes.c_long * count).in_dll(library, "gs_wholes")
    reals: Any = (ctypes.c_double * count).in_dll(library, "gs_reals")
    for number, ((kind, *_), places) in enumerate(variant.groups.items()):
        text = found.numbers[places[0]]
        if kind == "long":
            wholes[number] = int(text)
        else:
            reals[number] = np.float32(text.rstrip("f")) if kind == "float" else float(text)
    return library

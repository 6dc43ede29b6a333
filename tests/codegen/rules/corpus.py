"""The corpus of rules: entries in the language of specs, most of them wrong on purpose.

An entry is a comment, the op it is about, and before that the private ops that it calls. The
comment of a wrong one says what is wrong, and names calls that show it:

    # An element of zero divides by itself.
    # VJP at self=[2.0, 0.0, 3.0]
    - name: product_of_elements(Tensor self) -> Tensor
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
FOLDERS = ("wrong", "right", "published")

_CLAIM = re.compile(
    r"^# (?P<mode>(?:(?:VJP|JVP) of )*(?:VJP|JVP)|memory|batch)"
    r"(?: in (?P<dtype>float32))?(?: for (?P<output>\w+) alone)? at (?P<call>.+)$",
    re.MULTILINE,
)
_NAME = re.compile(r"^- name: (?P<name>\w+)", re.MULTILINE)
_BLOCK = re.compile(r"(?:^|(?<=\n\n))# (?:.+\n)+(?:\n?(?:- name:|  ).*\n)+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Claim:
    """A call at which a derivative of an entry is wrong."""

    mode: str
    """`VJP of JVP` is the VJP of what the JVP computes; `memory` is shared, or is not where a view
    is declared; `batch` is what `vmap` computes of two examples."""
    call: str
    """The keyword arguments, in Python; tensors are lists of numbers, or arrays."""
    dtype: str = "float64"
    output: str | None = None
    """The only output that has a cotangent."""


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """An op with its rules, and what is known about them."""

    file: str
    """Folder and name, such as `wrong/ties`."""
    name: str
    comment: str
    text: str
    """The entry as it would stand in a spec."""
    claims: tuple[Claim, ...]
    is_wrong: bool


def read_corpus(names: tuple[str, ...] = ()) -> list[RuleEntry]:
    """Read all entries, or those of which the file, the folder or the name is among `names`."""
    entries = [
        entry
        for folder in FOLDERS
        for path in sorted((FOLDER / folder).glob("*.yaml"))
        for entry in _entries(path)
    ]
    return [e for e in entries if not names or _keys(e) & set(names)]


def _keys(entry: RuleEntry) -> set[str]:
    return {entry.file, entry.name, entry.file.partition("/")[0]}


def _entries(path: Path) -> Iterator[RuleEntry]:
    text = path.read_text(encoding="utf-8")
    file = f"{path.parent.name}/{path.stem}"
    for block in _BLOCK.finditer(text):
        lines = block[0].split("\n")
        first = next(place for place, line in enumerate(lines) if not line.startswith("#"))
        comment = "\n".join(lines[:first])
        claims = tuple(
            Claim(m["mode"], m["call"], m["dtype"] or "float64", m["output"])
            for m in _CLAIM.finditer(comment)
        )
        yield RuleEntry(
            file,
            _NAME.findall(block[0])[-1],
            comment,
            "\n".join(lines[first:]).strip() + "\n",
            claims,
            is_wrong=path.parent.name != "right",
        )

"""`python -m tests.meta.coverage`: write `docs/coverage.md`, PyTorch's table beside ours.

PyTorch's names are those of `pytorch_derivatives.txt`; where those are that no entry of `specs/`
has is said, by patterns, in `coverage_elsewhere.txt`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import gradspec as gs
from gradspec.dispatch.registry import BY_NAME, import_all

from .pytorch_derivatives import FILE
from .source_tree import ROOT

DOCUMENT = ROOT / "docs" / "coverage.md"
PLACES = ROOT / "tests" / "meta" / "coverage_elsewhere.txt"

NOWHERE = "-"

_DERIVED = "derived"


class Name(NamedTuple):
    """A name of PyTorch's table."""

    text: str
    has_formula: bool
    """True if PyTorch has a gradient for some argument."""
    overloads: tuple[str, ...]


class Place(NamedTuple):
    """Place of a name: a line of `coverage_elsewhere.txt`."""

    pattern: str
    where: str
    reason: str

    def fits(self, name: str) -> bool:
        """Return whether it is the place of a name."""
        return bool(re.fullmatch(self.pattern, name))


def names() -> list[Name]:
    """Read PyTorch's names."""
    lines = [line.split(" | ") for line in FILE.read_text(encoding="utf-8").splitlines()]
    return [Name(text, kind == "formula", tuple(rest.split())) for text, kind, rest in lines]


@cache
def places() -> tuple[Place, ...]:
    """Read the places."""
    lines = PLACES.read_text(encoding="utf-8").splitlines()
    return tuple(
        Place(pattern, where, reason)
        for line in lines
        if line and not line.startswith("#")
        for rest, _, reason in [line.rpartition(" | ")]
        for pattern, _, where in [rest.rpartition(" | ")]
    )


@cache
def entries() -> frozenset[str]:
    """Return the names of the ops of the table, without overloads."""
    import_all()
    return frozenset(name.partition(".")[0] for name in BY_NAME)


def is_here(path: str) -> bool:
    """Return whether the library has a name."""
    found: Any = gs
    for word in path.split("."):
        found = getattr(found, word, None)
    return found is not None


def place(name: str) -> Place:
    """Return where a name that no entry has is; KeyError if nothing is said of it."""
    found = next((each for each in places() if each.fits(name)), None)
    if found is not None:
        return found
    if name.endswith("_backward"):
        return _of_gradient(name)
    if name.endswith("_") and is_here(f"Tensor.{name}"):
        return Place(name, f"Tensor.{name}", f"written to in place; see `{name[:-1]}`")
    raise KeyError(f"tests/meta/coverage_elsewhere.txt has no place for {name}")


def _of_gradient(name: str) -> Place:
    """Return the place of the gradient of an op: that of the op."""
    op = name.removesuffix("_backward")
    public = op.lstrip("_")
    for spelled in (op, public, f"{public}_forward", f"_{public}_forward"):
        if spelled in entries():
            return Place(name, NOWHERE, f"{_DERIVED} from `{spelled}`")
        if any(each.fits(spelled) for each in places()):
            at = place(spelled)
            is_left = at.where == NOWHERE
            return Place(name, at.where, at.reason if is_left else f"{_DERIVED} from `{at.where}`")
    raise KeyError(f"tests/meta/coverage_elsewhere.txt has no place for {name}, nor for its op")


def document() -> str:
    """Return the text of the document."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    known = names()
    own = [name for name in known if name.text in entries()]
    others = [(name, place(name.text)) for name in known if name.text not in entries()]
    derived = [(name, at) for name, at in others if at.reason.startswith(_DERIVED)]
    elsewhere = [x for x in others if x not in derived and x[1].where != NOWHERE]
    left = [x for x in others if x not in derived and x[1].where == NOWHERE]
    yield "# PyTorch's table of derivatives"
    yield ""
    yield from _paragraph(
        "Each name of the `derivatives.yaml` of PyTorch 2.13, and where it is here. A star marks "
        "names for which that table has no gradient. Written by `python -m tests.meta.coverage` "
        "from `tests/meta/pytorch_derivatives.txt`, `tests/meta/coverage_elsewhere.txt` and the "
        "table in `specs/`."
    )
    yield ""
    yield "| | names | with a gradient in PyTorch |"
    yield "|---|---|---|"
    parts = {
        "all": known,
        "an entry of the same name, proved": own,
        "here under another name, or composed of entries": [name for name, _ in elsewhere],
        "gradients of ops, whose gradients are derived": [name for name, _ in derived],
        "not here": [name for name, _ in left],
    }
    for title, those in parts.items():
        yield f"| {title} | {len(those)} | {sum(name.has_formula for name in those)} |"
    yield from _heading("Entries of the same name")
    yield from _paragraph(", ".join(map(_shown, own)) + ".")
    yield from _heading("Here under another name")
    yield from _table(elsewhere)
    yield from _heading("Gradients of ops")
    yield from _paragraph(
        "PyTorch lists the gradients of some ops as ops, to differentiate them again. Here "
        "gradients are formulas of ops that have gradients."
    )
    yield ""
    yield from _paragraph(", ".join(_shown(name) for name, _ in derived) + ".")
    yield from _heading("Not here")
    by_reason: dict[str, list[Name]] = {}
    for name, at in left:
        by_reason.setdefault(at.reason, []).append(name)
    for reason, those in by_reason.items():
        yield from _paragraph(f"- {reason}: " + ", ".join(map(_shown, those)) + ".", "  ")


def _table(found: list[tuple[Name, Place]]) -> Iterator[str]:
    yield "| PyTorch | here | how |"
    yield "|---|---|---|"
    for name, at in found:
        yield f"| {_shown(name)} | `{at.where}` | {at.reason} |"


def _heading(text: str) -> Iterator[str]:
    yield from ("", f"## {text}", "")


def _shown(name: Name) -> str:
    return f"`{name.text}`" + ("" if name.has_formula else "\\*")


def _paragraph(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")

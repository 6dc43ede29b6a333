"""`python -m tests.meta.names`: write `docs/names.md`, PyTorch's public names beside ours.

PyTorch's are those of `runtime/pytorch_names.txt`; why some are left is said, by patterns, in
`names_left.txt`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any, NamedTuple

import gradspec as gs
from gradspec.core.missing import MissingMethod
from gradspec.dtypes.refused import RefusedDtype

from .pytorch_names import FILE
from .source_tree import ROOT

DOCUMENT = ROOT / "docs" / "names.md"
REASONS = ROOT / "tests" / "meta" / "names_left.txt"


class Reason(NamedTuple):
    """A line of `names_left.txt`."""

    namespace: str
    pattern: str
    text: str

    def fits(self, namespace: str, name: str) -> bool:
        """Return whether the reason is that of a name."""
        return self.namespace in ("*", namespace) and bool(re.fullmatch(self.pattern, name))


def reasons() -> list[Reason]:
    """Read the reasons."""
    lines = REASONS.read_text(encoding="utf-8").splitlines()
    return [
        Reason(namespace.strip(), pattern.strip(), text.strip())
        for line in lines
        if line and not line.startswith("#")
        for namespace, _, rest in [line.partition("|")]
        for pattern, _, text in [rest.strip().rpartition(" | ")]
    ]


def names() -> dict[str, list[str]]:
    """Return PyTorch's names by namespace."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return {path: words.split() for path, words in (line.split(": ") for line in lines)}


def is_here(namespace: str, name: str) -> bool:
    """Return whether the library has a name of a namespace of PyTorch."""
    space: Any = gs
    for word in namespace.split(".")[1:]:
        space = getattr(space, word)
    if type(getattr(gs, name, None)) is RefusedDtype:
        return False
    if space is gs.Tensor and type(vars(space).get(name)) is MissingMethod:
        return False
    return hasattr(space, name)


def left(namespace: str, missing: list[str]) -> dict[str, list[str]]:
    """Return the names that are left by the reason why; KeyError for one without a reason."""
    found: dict[str, list[str]] = {}
    known = reasons()
    for name in missing:
        fitting = [reason.text for reason in known if reason.fits(namespace, name)]
        if not fitting:
            raise KeyError(f"tests/meta/names_left.txt has no reason for {namespace}.{name}")
        found.setdefault(fitting[0], []).append(name)
    return found


def document() -> str:
    """Return the text of the document."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# PyTorch's names"
    yield ""
    yield from _paragraph(
        "Each public name of PyTorch 2.13 in the namespaces that gradspec has: those that are "
        "here, and those that are left, with the reason. Written by `python -m tests.meta.names` "
        "from the list of names in `runtime/pytorch_names.txt` and the reasons in "
        "`tests/meta/names_left.txt`."
    )
    yield ""
    spaces = {path: _sorted_out(path, words) for path, words in names().items()}
    yield "| namespace | here | left |"
    yield "|---|---|---|"
    for path, (here, missing) in spaces.items():
        yield f"| [`{path}`](#{path.replace('.', '').lower()}) | {len(here)} | {len(missing)} |"
    for path, (here, missing) in spaces.items():
        yield ""
        yield f"## {path}"
        yield ""
        yield from _paragraph("Here: " + ", ".join(f"`{name}`" for name in here) + ".")
        for reason, those in left(path, missing).items():
            yield ""
            yield from _paragraph(
                f"Left, {reason}: " + ", ".join(f"`{name}`" for name in those) + "."
            )


def _sorted_out(path: str, words: list[str]) -> tuple[list[str], list[str]]:
    here = [name for name in words if is_here(path, name)]
    return here, [name for name in words if name not in here]


def _paragraph(text: str) -> list[str]:
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")

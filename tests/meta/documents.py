"""The code blocks of a Markdown document, and what each is there for.

A comment above a block gives it a role:

    <!-- file: NAME -->    the block is a file that later commands read
    <!-- part of: NAME --> the block is a piece of a file that a command wrote

Other blocks have one by their language: `console` blocks are commands after `$`, each followed by
what it prints; `python` blocks run on their own, and a `text` block right below holds the output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"(?:<!-- (?P<role>file|part of): (?P<name>\S+) -->\n)?"
    r"^```(?P<language>\w+)\n(?P<body>.*?)^```$"
    r"(?P<output>\n\n```text\n(?P<printed>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One fenced block; `printed` is the output shown for a Python one."""

    line: int
    language: str
    body: str
    role: str = ""
    name: str = ""
    printed: str | None = None


def blocks(path: Path) -> Iterator[Block]:
    """The blocks in order, a `text` block together with the Python above it."""
    text = path.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        yield Block(
            line=text.count("\n", 0, match.start()) + 1,
            language=match["language"],
            body=match["body"],
            role=match["role"] or "",
            name=match["name"] or "",
            printed=match["printed"],
        )


def sessions(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a `console` block, each with what it prints."""
    command, output = "", ""
    for line in body.splitlines(keepends=True):
        if line.startswith("$ "):
            if command:
                yield command, output
            command, output = line[2:].strip(), ""
        else:
            output += line
    if command:
        yield command, output

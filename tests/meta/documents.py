"""The code blocks of a Markdown document, run as a reader would run them.

    python -m tests.meta.documents [NAME ...]      write what they print now into the documents

A comment above a block gives it a role:

    <!-- file: NAME -->    the block is a file that later commands read
    <!-- part of: NAME --> the block is a definition in a file that a command wrote
    <!-- needs: NAME -->   the block is run where this framework is installed

The table below the comment `<!-- keys -->` is made of the vocabulary of specs.

Other blocks have one by their language: `console` blocks are commands after `$`, each followed by
what it prints; `python` blocks run on their own, and a `text` block right below holds the output.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from gradspec_codegen.spec.keys import key_table
from tests.codegen.commands import warm

from .source_tree import ROOT

DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/spec.md",
    "docs/design.md",
    "docs/proof.md",
    "docs/performance.md",
    "docs/compile.md",
    "docs/pytorch_sources.md",
    "docs/training.md",
    "docs/differences.md",
    "docs/index.md",
    "docs/install.md",
    "docs/playground.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/tutorials/*.md")),
)

_BLOCK = re.compile(
    r"(?P<head>(?:<!-- (?P<role>file|part of|needs): (?P<name>\S+) -->\n)?^```(?P<language>\w+)\n)"
    r"(?P<body>.*?)^```$"
    r"(?:\n\n```text\n(?P<printed>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)

_TIME = re.compile(r"(?<=, in )\d+\.\d+ s\b")
"""Duration of a command, which tells of the machine alone."""

_KEYS = re.compile(r"(?<=^<!-- keys -->\n)(?:\|.*\n)+", re.MULTILINE)


def replayed(text: str, folder: Path) -> str:
    """A document with the output that its blocks have now; `folder` is where they run."""
    reader = _Reader(folder)
    return _KEYS.sub(lambda _: key_table(), _BLOCK.sub(reader.follow, text))


class _Reader:
    """Does what a reader of a document would do, in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def follow(self, block: re.Match[str]) -> str:
        head, body, name = block["head"], block["body"], block["name"]
        if block["role"] == "file":
            (self.folder / name).write_text(body, encoding="utf-8")
        elif block["role"] == "part of":
            return f"{head}{self.definition(name, body)}```"
        elif block["role"] == "needs" and find_spec(name) is None:
            return block[0]
        elif block["language"] == "console":
            return f"{head}{self.session(body)}```"
        elif block["language"] == "python":
            printed = self.run(sys.executable, "-W", "error", "-c", body)
            return f"{head}{body}```\n\n```text\n{printed}```"
        return block[0]

    def definition(self, name: str, body: str) -> str:
        """The class or function of the block's first line, as it stands in the file now."""
        source = (self.folder / name).read_text(encoding="utf-8")
        start = source.index(body.partition("\n")[0] + "\n")
        return source[start:].split("\n\n\n")[0].rstrip("\n") + "\n"

    def session(self, body: str) -> str:
        """The commands of a block; those of gradspec with their output, others as they are."""
        if "$ gradspec" not in body:
            return body
        commands = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
        return "".join(f"$ {command}\n{self.command(command)}\n" for command in commands)

    def command(self, text: str) -> str:
        program, *arguments = shlex.split(text)
        assert program == "gradspec", f"no reader knows how to run {program!r}"
        text = warm.run(arguments, self.folder, self.environment()).printed.strip()
        return _TIME.sub("… s", text)

    def environment(self) -> dict[str, str]:
        return os.environ | {"PYTHONPATH": str(self.folder), "COLUMNS": "100"}

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout


def main() -> None:
    """Bring every document up to date."""
    for name in sys.argv[1:] or DOCUMENTS:
        path = ROOT / name
        before = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            after = replayed(before, Path(folder))
        path.write_text(after, encoding="utf-8")
        print(f"{name}: {'rewritten' if after != before else 'as it was'}")


if __name__ == "__main__":
    main()

"""A process that runs `gradspec` commands, each in a copy of itself.

    python -m tests.codegen.commands.warm

It has imported the generator and read the table, which takes longer than most commands of the
documents. Requests and answers are lines of JSON: the arguments, the folder and the environment of
a command; what it printed.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.meta.source_tree import ROOT


def printed(arguments: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Run a command in a folder, and return what it printed."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    request = {"arguments": arguments, "folder": str(folder), "environment": environment}
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    answer: str = json.loads(server.stdout.readline())
    return answer


@cache
def _server() -> subprocess.Popen[str]:
    """The process, which ends with this one."""
    server = subprocess.Popen(
        [sys.executable, "-m", __spec__.name],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    atexit.register(server.communicate)
    return server


def main() -> None:
    """Answer requests until there are no more."""
    from gradspec_codegen import pipeline
    from gradspec_codegen.commands import generate

    pipeline.builtin_table()
    assert generate.codegen
    for line in sys.stdin:
        request = json.loads(line)
        with tempfile.TemporaryFile() as output:
            child = os.fork()
            if child == 0:
                _become(request, output.fileno())
                return
            os.waitpid(child, 0)
            output.seek(0)
            text = output.read().decode("utf-8")
        sys.stdout.write(json.dumps(text) + "\n")
        sys.stdout.flush()


def _become(request: dict[str, Any], output: int) -> None:
    """Run a command in this process as if it had been started for it."""
    from gradspec_codegen.__main__ import main as command

    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.path[0] = request["folder"]
    sys.argv = ["gradspec", *request["arguments"]]
    command()


if __name__ == "__main__":
    main()

"""A process that runs `gradspec` commands, each in a copy of itself.

    python -m tests.codegen.commands.warm

It has imported the generator and read the table, which takes longer than most commands that tests
run. Requests and answers are lines of JSON: the arguments, the folder and the environment of a
command, and a program to run before it; what it printed, how it ended, and the memory that it took.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.meta.source_tree import ROOT

ENDLESS = 120
"""Seconds of computing that no command may take."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that has ended."""

    printed: str
    status: int
    """Exit status, or the negative number of the signal that ended it."""
    megabytes: int
    """The most that it held at once."""


def run(arguments: list[str], folder: Path, environment: dict[str, str], first: str = "") -> Ended:
    """Run a command in a folder, after the program `first` in the same process."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    request = {
        "arguments": arguments,
        "folder": str(folder),
        "environment": environment,
        "first": first,
    }
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    return Ended(**json.loads(server.stdout.readline()))


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
            _, status, used = os.wait4(child, 0)
            output.seek(0)
            ended = {
                "printed": output.read().decode("utf-8"),
                "status": os.waitstatus_to_exitcode(status),
                "megabytes": used.ru_maxrss // (1024**2 if sys.platform == "darwin" else 1024),
            }
        sys.stdout.write(json.dumps(ended) + "\n")
        sys.stdout.flush()


def _become(request: dict[str, Any], output: int) -> None:
    """Run a command in this process as if it had been started for it."""
    from gradspec_codegen.__main__ import main as command

    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    tempfile.tempdir = None  # which its environment decides
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (ENDLESS, most))
    sys.path[0] = request["folder"]
    sys.argv = ["gradspec", *request["arguments"]]
    exec(request["first"], {})
    command()


if __name__ == "__main__":
    main()

"""The `gradspec` command: each of its commands is a file of `commands/`."""

from __future__ import annotations

import click

from .commands.audit import audit
from .commands.derive import derive
from .commands.explain import explain
from .commands.generate import codegen
from .commands.lint import lint
from .commands.mutate import mutate
from .commands.new import new
from .commands.prove import prove
from .commands.schema import schema
from .commands.serve import serve
from .commands.verify import verify


@click.group(
    epilog="Exit statuses are in the --help of each command; 130 means Ctrl-C.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="gradspec")
def main() -> None:
    """PyTorch's autograd code generator in Python: wrong formulas are not generated."""


_COMMANDS = (codegen, prove, verify, lint, audit, explain, derive, new, mutate, schema, serve)

for _command in _COMMANDS:
    main.add_command(_command)

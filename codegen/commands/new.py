"""`gradspec new OP`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..author.skeleton import TEXT, TO_DO, read_signature, skeleton
from ..diagnostics import SpecError
from ..explanation import spelled_signature
from ..spec.load import load_table
from .options import fail, shown_path, spec_option


@click.command(
    short_help="Print the skeleton of an entry.",
    epilog="Exit status: 0 printed or appended; 1 no signature, or the op exists; 2 usage.",
)
@click.argument("op")
@click.option(
    "--to",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Append the entry to this spec file, which is made if it does not exist.",
)
@click.option("--composite", is_flag=True, help="An op that only calls other ops.")
@spec_option
def new(op: str, to: Path | None, composite: bool, spec: Path) -> None:
    """Print the skeleton of an entry for OP, with a comment on everything that can be said.

    OP is a name, for an op of one tensor, or a signature:
    "scaled(Tensor self, Scalar factor=2) -> Tensor". What is to be filled in says TODO.
    """
    try:
        signature = read_signature(op)
        known = {each.name for each in load_table(spec).ops}
        if to is not None and to.exists():
            known |= set(_names_in(to.read_text(encoding="utf-8")))
    except SpecError as error:
        fail(error, texts={TEXT: op})
    if signature.full_name in known:
        click.echo(f"There is an op `{signature.full_name}`: give another overload.", err=True)
        sys.exit(1)
    text = skeleton(signature, spelled_signature(signature), composite=composite)
    if to is None:
        click.echo(text, nl=False)
        return
    _append(to, text)
    click.echo(f"Appended `{signature.full_name}` to {shown_path(to)}: fill in what says {TO_DO}.")


def _names_in(text: str) -> list[str]:
    """The ops of a file that may not be complete yet, and so cannot be loaded."""
    heads = [line for line in text.splitlines() if line.startswith("- name:")]
    return [head.removeprefix("- name:").partition("(")[0].strip(" '\"") for head in heads]


def _append(path: Path, text: str) -> None:
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    with path.open("a", encoding="utf-8") as file:
        file.write(gap + text)

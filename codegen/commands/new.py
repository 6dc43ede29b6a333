"""`gradspec new OP`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ..authoring.explanation import spelled_signature
from ..authoring.skeleton import TEXT, TO_DO, read_signature, skeleton
from ..diagnostics import Diagnostic, Report, Span, SpecError
from ..pipeline import builtin_table
from ..spec.source import read_source
from .options import FilePath, fail, shown_path, spec_option
from .place import target_of


@click.command(
    short_help="Print the skeleton of an entry.",
    epilog="Exit status: 0 printed or appended; 1 no signature, or the op exists; 2 usage.",
)
@click.argument("op")
@click.option(
    "--to",
    type=FilePath(path_type=Path, dir_okay=False),
    help="Append the entry to this spec file, which is created if it does not exist.",
)
@click.option("--composite", is_flag=True, help="An op that only calls other ops.")
@spec_option
def new(op: str, to: Path | None, composite: bool, spec: Path | None) -> None:
    """Print the skeleton of an entry for OP, with a comment on everything that can be said.

    OP is a name, for an op of one tensor, or a signature:
    "scaled(Tensor self, Scalar factor=2) -> Tensor". What is to be filled in says TODO.
    """
    target = target_of(spec)
    try:
        signature = read_signature(op)
        before = _text_of(to) if to is not None else ""
        known = {each.name for each in builtin_table().ops}
        if target.is_extension:
            known |= set(_names_in(_text_of(target.spec)))
        known |= set(_names_in(before))
    except SpecError as error:
        fail(error, texts={TEXT: op})
    if signature.full_name in known:
        click.echo(f"There is an op `{signature.full_name}`: give another overload.", err=True)
        sys.exit(1)
    text = skeleton(signature, spelled_signature(signature), composite=composite)
    if to is None:
        click.echo(text, nl=False)
        return
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    with to.open("a", encoding="utf-8") as file:
        file.write(gap + text)
    click.echo(f"Appended `{signature.full_name}` to {shown_path(to)}: fill in what says {TO_DO}.")


def _text_of(path: Path) -> str:
    """Read a spec file, empty if there is none. Raises SpecError if it is no spec."""
    if path.suffix not in (".yaml", ".yml") or not path.parent.is_dir():
        message = (
            f"{path} is no spec file: a list of ops, called `....yaml`, in a folder that exists"
        )
        raise SpecError([Diagnostic("GS001", Span("--to", 1, 1), message)])
    if not os.path.lexists(path):
        return ""
    report = Report()
    source = read_source(path, report)
    report.raise_if_any()
    assert source is not None
    lines = [line for line in source.text.splitlines() if line.strip(" ") and line[:1] != "#"]
    if lines and not lines[0].startswith("- "):
        report.error("GS011", Span(str(path), 1, 1), "the file is not a list", "name a spec file")
        report.raise_if_any()
    return source.text


def _names_in(text: str) -> list[str]:
    """Return the ops of a file that may be incomplete, and so cannot be loaded."""
    heads = [line for line in text.splitlines() if line.startswith("- name:")]
    return [head.removeprefix("- name:").partition("(")[0].strip(" '\"") for head in heads]

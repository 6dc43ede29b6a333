"""`gradspec schema`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from ..emit.write import write_file
from ..spec.schema import TITLE, schema_text
from .options import FilePath, shown_path
from .place import spec_of_project


@click.command(
    short_help="Write the JSON Schema of spec files.",
    epilog="Exit status: 0; 1 (--check) the file is stale; 2 usage.",
)
@click.argument(
    "path", type=FilePath(path_type=Path, dir_okay=False, allow_dash=True), required=False
)
@click.option("--check", is_flag=True, help="Write nothing; fail if the file is stale.")
def schema(path: Path | None, check: bool) -> None:
    """Write the JSON Schema of spec files to PATH (`schema.json` beside the spec), for editors.

    With `-` it is printed. If the first line of a spec names it, editors with YAML support complete
    keys and words: `# yaml-language-server: $schema=schema.json`.
    """
    path = path or spec_of_project().with_name("schema.json")
    text = schema_text()
    if str(path) == "-":
        click.echo(text, nl=False)
        return
    try:
        before = path.read_text(encoding="utf-8") if os.path.lexists(path) else ""
        if before == text:
            click.echo(f"{shown_path(path)} is fresh.")
        elif check:
            click.echo(f"{shown_path(path)} is stale: run `gradspec schema`.", err=True)
            sys.exit(1)
        elif path.is_symlink() or (os.path.lexists(path) and not _is_schema(before)):
            click.echo(f"{shown_path(path)} is not a schema of ours: name another file.", err=True)
            sys.exit(1)
        else:
            write_file(path, text)
            click.echo(f"Wrote {shown_path(path)}")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        click.echo(f"{path} cannot be written: {reason}.", err=True)
        sys.exit(1)


def _is_schema(text: str) -> bool:
    """Return whether a file was written by this command, perhaps by another version."""
    try:
        found = json.loads(text)
    except ValueError:
        return False
    return isinstance(found, dict) and found.get("title") == TITLE

"""`gradspec schema`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..spec.schema import schema_text
from .options import shown_path


@click.command(
    short_help="Write the JSON Schema of spec files.",
    epilog="Exit status: 0; 1 (--check) the file is stale; 2 usage.",
)
@click.argument(
    "path",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    default=Path("specs/schema.json"),
)
@click.option("--check", is_flag=True, help="Write nothing; fail if the file is stale.")
def schema(path: Path, check: bool) -> None:
    """Write the JSON Schema of spec files to PATH (specs/schema.json), for editors.

    With `-` it is printed. A spec names it in its first line, then editors that speak YAML complete
    keys and words: `# yaml-language-server: $schema=schema.json`.
    """
    text = schema_text()
    if str(path) == "-":
        click.echo(text, nl=False)
    elif path.exists() and path.read_text(encoding="utf-8") == text:
        click.echo(f"{shown_path(path)} is fresh.")
    elif check:
        click.echo(f"{shown_path(path)} is stale: run `gradspec schema`.", err=True)
        sys.exit(1)
    else:
        path.write_text(text, encoding="utf-8")
        click.echo(f"Wrote {shown_path(path)}")

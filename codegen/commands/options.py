"""What the commands share: where they read and write, and how they fail."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import click

from ..diagnostics import SpecError, render
from ..emit.package import GENERATED_PACKAGE
from ..pipeline import Target, builtin_spec

OUR_SPEC = Path("specs/derivatives.yaml")
"""The spec of a checkout, if the command runs in one."""


def default_spec() -> Path:
    """The spec of the checkout one stands in; elsewhere the one that is installed."""
    return OUR_SPEC if OUR_SPEC.exists() else builtin_spec()


_SPEC = click.Path(path_type=Path, exists=True, dir_okay=False)

spec_argument = click.argument("spec", type=_SPEC, default=default_spec)
spec_option = click.option(
    "--spec",
    type=_SPEC,
    default=default_spec,
    help="The table: specs/derivatives.yaml, or your own spec.",
)
out_option = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the generated package. By default `generated` beside the folder of SPEC.",
)
package_option = click.option(
    "--package",
    help="Import name of the generated package. By default gradspec.generated, or the name of "
    "--out: then the ops are added to gradspec's own.",
)
jobs_option = click.option(
    "--jobs",
    "-j",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    show_default="all cores",
    help="Processes that prove side by side.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Answer in JSON on standard output, for programs."
)


def target_of(spec: Path, out: Path | None = None, package: str | None = None) -> Target:
    """Where a run writes: beside the folder of the spec, unless told otherwise."""
    if out is None:
        beside = spec.resolve().parent.parent / "generated"
        return Target(spec, beside, package or GENERATED_PACKAGE)
    return Target(spec, out.resolve(), package or out.resolve().name)


def fail(
    error: SpecError, *, as_json: bool = False, texts: Mapping[str, str] | None = None
) -> NoReturn:
    """Show the mistakes and leave with status 1; `texts` has what they are in, if not a file."""
    if as_json:
        show_json({"ok": False, "mistakes": [asdict(found) for found in error.diagnostics]})
    else:
        click.echo(render(error.diagnostics, color=sys.stderr.isatty(), texts=texts), err=True)
        count = len(error.diagnostics)
        click.echo(f"\n{count} mistake{'s' if count > 1 else ''}; nothing was written.", err=True)
    sys.exit(1)


def interrupted() -> NoReturn:
    """Ctrl-C: say that no harm was done, and leave as a shell expects."""
    click.echo("Interrupted; nothing was written.", err=True)
    sys.exit(130)


def show_json(answer: Mapping[str, Any] | Sequence[Any]) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(answer, indent=2, ensure_ascii=False))


def shown_path(path: Path) -> str:
    """Shorter where it can be: relative to where the user stands."""
    path = path.resolve()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)

"""Options that commands share, and their failures."""

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
from ..target import NUMPY
from ..targets.frameworks import FRAMEWORKS


class FilePath(click.Path):
    """The path of a file that is there, or may be: of no device, which would be replaced, and of
    no pipe, which would be waited for."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; a usage error for what is no file."""
        path = super().convert(value, param, ctx)
        if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
            self.fail(f"'{value}' is no regular file.", param, ctx)
        return path


_FILE = FilePath(path_type=Path, exists=True, dir_okay=False)

spec_argument = click.argument("spec", type=_FILE, required=False)
spec_option = click.option(
    "--spec",
    type=_FILE,
    help="Your own spec, whose ops are known as well as gradspec's. By default the project's.",
)
out_option = click.option(
    "--out", help="Folder of the generated package: absent, empty, or generated before."
)
package_option = click.option(
    "--package",
    help="Import name of the generated package. By default the name of --out.",
)
framework_option = click.option(
    "--target",
    "framework",
    type=click.Choice((NUMPY, *FRAMEWORKS)),
    default=NUMPY,
    show_default=True,
    help="The framework that the package is for: it needs that one alone.",
)
proofs_option = click.option(
    "--proofs",
    type=_FILE,
    help="proofs.lock of a package of SPEC for another framework: its proofs count here too.",
)
kernels_option = click.option(
    "--kernels", type=_FILE, help="Python file whose functions SPEC calls as kernels.NAME."
)
jobs_option = click.option(
    "--jobs",
    "-j",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    show_default="all cores",
    help="Number of processes that prove.",
)


def _installed(_: click.Context, __: click.Parameter, given: str) -> str:
    """Refuse a backend of joblib that is unknown, or not installed."""
    if given:
        from ..prove.backends import check_backend  # joblib

        try:
            check_backend(given)
        except SpecError as error:
            (found,) = error.diagnostics
            raise click.BadParameter(f"{found.message}: {found.help}.") from None
    return given


backend_option = click.option(
    "--backend",
    default="",
    metavar="NAME",
    callback=_installed,
    help="Who runs the proofs: a backend of joblib, such as dask, ray or threading. By default "
    "processes on this machine.",
)
seed_option = click.option(
    "--seed",
    default="",
    help="Check at the points of an earlier run, which told its seed. By default at new ones.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON on standard output, for programs."
)


def fail(
    error: SpecError,
    *,
    as_json: bool = False,
    texts: Mapping[str, str] | None = None,
    end: str = "nothing was written",
) -> NoReturn:
    """Show mistakes and exit with status 1; `texts` has the text of what is no file."""
    if as_json:
        show_json({"ok": False, "mistakes": [asdict(found) for found in error.diagnostics]})
        sys.exit(1)
    show_mistakes(error, texts)
    click.echo("", err=True)
    end_with_mistakes(error, end)


def show_mistakes(error: SpecError, texts: Mapping[str, str] | None = None) -> None:
    """Show mistakes, each where it is."""
    click.echo(render(error.diagnostics, color=sys.stderr.isatty(), texts=texts), err=True)


def end_with_mistakes(error: SpecError, end: str = "nothing was written") -> NoReturn:
    """Count the mistakes that were shown, and exit with status 1."""
    count = len(error.diagnostics)
    click.echo(f"{count} mistake{'s' if count > 1 else ''}; {end}.", err=True)
    sys.exit(1)


def interrupted() -> NoReturn:
    """Handle Ctrl-C: say that nothing was written, and exit as a shell expects."""
    click.echo("Interrupted; nothing was written.", err=True)
    sys.exit(130)


def show_json(answer: Mapping[str, Any] | Sequence[Any]) -> None:
    """Print one JSON document on standard output."""
    click.echo(json.dumps(answer, indent=2, ensure_ascii=False))


def shown_path(path: Path) -> str:
    """Show a path, relative to the current folder if it is in there."""
    path = path.resolve()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)

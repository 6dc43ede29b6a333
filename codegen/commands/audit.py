"""`gradspec audit`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from ..certification import UnknownOp
from ..emit.write import write_file
from ..progress import ProofProgress
from ..target import Target, builtin_spec
from .options import FilePath, interrupted, jobs_option, json_option, show_json, shown_path

_LIBRARIES = ("torch", "jax", "autograd", "mygrad")
_FILE = FilePath(path_type=Path, dir_okay=False)


@click.command(
    short_help="Compare another library's derivatives with the proved rules.",
    epilog="Exit status: 0 no structural finding; 1 there are some; 2 usage, or the library is "
    "not installed.",
)
@click.argument("library", type=click.Choice(_LIBRARIES))
@click.option(
    "--op", "names", multiple=True, metavar="NAME", help="Only this op. May be given several times."
)
@click.option(
    "--thin",
    type=click.IntRange(min=1),
    default=6,
    show_default=True,
    help="Look at every THIN-th point of elementwise ops; 1 for the longest audit.",
)
@click.option("--html", type=_FILE, help="Write a report for browsers to this file.")
@click.option("--markdown", type=_FILE, help="Write a report as Markdown to this file.")
@jobs_option
@json_option
def audit(
    library: str,
    names: tuple[str, ...],
    thin: int,
    html: Path | None,
    markdown: Path | None,
    jobs: int,
    as_json: bool,
) -> None:
    """Compare the derivatives of LIBRARY, as installed, with gradspec's proved rules.

    Every function of LIBRARY that gradspec has an op for is differentiated by each mode and by each
    mode on top of another, at usual points, at zeros, ties and singularities, and far out. The
    right answers are the proved rules' at 50 digits. What differs is graded: structural (the
    formula is wrong), boundary (isolated points), numerical (overflow, cancellation), convention
    (a choice where there is no derivative). A structural finding holds by finite differences of the
    library's own function, too, and every finding has a program that was run.
    """
    from ..audit.libraries import library as table_of
    from ..audit.report import html_report, markdown_report, summary
    from ..audit.run import audit as run_audit  # sympy

    for option, file in (("--html", html), ("--markdown", markdown)):
        if file is not None and (problem := _problem(file)):
            raise click.BadParameter(problem, param_hint=f"'{option}'")
    if not table_of(library).version:
        raise click.UsageError(f"{library} is not installed here: pip install {library}")
    started = time.perf_counter()
    try:
        with ProofProgress("Auditing") as progress:
            found = run_audit(
                Target(builtin_spec()),
                library,
                names,
                jobs=jobs,
                thin=thin,
                begin=progress.begin,
                progress=progress.advance,
            )
    except UnknownOp as unknown:
        raise click.BadParameter(f"{unknown} {unknown.help}", param_hint="--op") from None
    except KeyboardInterrupt:
        interrupted()
    seconds = time.perf_counter() - started
    for file, text in ((html, html_report), (markdown, markdown_report)):
        if file is not None:
            write_file(file, text(found))
            click.echo(f"Wrote {shown_path(file)}", err=True)
    if as_json:
        show_json(found.to_json() | {"seconds": round(seconds, 1)})
    else:
        click.echo(summary(found, seconds))
    sys.exit(found.has_structural)


def _problem(file: Path) -> str:
    """Describe why a report cannot be written to a file: only an earlier report is replaced."""
    from ..audit.report import is_report

    if not file.absolute().parent.is_dir():
        return f"There is no folder {file.parent}."
    try:
        if file.is_symlink() or (file.exists() and not is_report(file)):
            return f"{file.name} is there, and is no report of an audit: name another file."
    except OSError as error:
        return f"{file.name} cannot be read: {error.strerror}."
    return ""

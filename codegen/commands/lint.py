"""`gradspec lint`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from ..certification import UnknownOp
from ..diagnostics import SpecError, render
from ..progress import ProofProgress
from .options import (
    fail,
    interrupted,
    jobs_option,
    json_option,
    kernels_option,
    show_json,
    spec_argument,
)
from .place import target_of


@click.command(
    short_help="Find where formulas lose digits.",
    epilog="Exit status: 0 nothing is lost but what the spec accepts; 1 there are findings, or "
    "mistakes in the spec; 2 usage.",
)
@spec_argument
@click.option(
    "--op", "names", multiple=True, metavar="NAME", help="Only this op. May be given several times."
)
@kernels_option
@click.option(
    "--thin",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Look at every THIN-th of the points; 1 for the longest sweep.",
)
@click.option("--rewrite/--no-rewrite", default=True, help="Look for formulas that lose less.")
@jobs_option
@json_option
def lint(
    spec: Path | None,
    names: tuple[str, ...],
    kernels: Path | None,
    thin: int,
    rewrite: bool,
    jobs: int,
    as_json: bool,
) -> None:
    """Sweep every elementwise op of SPEC against 50 digits, and report where values are lost.

    Values, VJPs, JVPs and second derivatives are computed in float32 and float64 at points of all
    magnitudes, beside breakpoints, poles and the ends of domains, and compared with sympy's
    derivatives of the definition. Where a table of rewrites knows a form that loses less, it is
    proved, measured and shown. `accuracy:` in an entry accepts a finding, with a reason.

    Without SPEC it is that of the project, or gradspec's own table.
    """
    from ..lint.run import lint as run_lint  # sympy

    target = target_of(spec, kernels=kernels, as_json=as_json)
    started = time.perf_counter()
    try:
        with ProofProgress("Sweeping") as progress:
            found = run_lint(
                target,
                names,
                jobs=jobs,
                thin=thin,
                rewrite=rewrite,
                begin=progress.begin,
                progress=progress.advance,
            )
    except UnknownOp as unknown:
        raise click.BadParameter(f"{unknown} {unknown.help}", param_hint="--op") from None
    except SpecError as error:
        fail(error, as_json=as_json)
    except KeyboardInterrupt:
        interrupted()
    seconds = time.perf_counter() - started
    if as_json:
        show_json(
            {
                "ok": not found.findings,
                "seconds": round(seconds, 3),
                "ops": len({each.subject for each in found.swept}),
                "points": sum(each.checked for each in found.swept),
                "findings": [finding.to_json() for finding in found.findings],
                "skipped": dict(found.skipped),
                "unused": [{"op": op.name, "condition": text} for op, text in found.unused],
            }
        )
        sys.exit(bool(found.findings))
    if found.findings:
        shown = render([f.diagnostic() for f in found.findings], color=sys.stderr.isatty())
        click.echo(shown + "\n", err=True)
    for label, reason in found.skipped:
        click.echo(f"Not swept: {label}: {reason}.")
    for op, condition in found.unused:
        click.echo(f"{op.span}: no point needs `accuracy: {condition}` of `{op.name}`.")
    ops = len({each.subject for each in found.swept})
    count = sum(each.checked for each in found.swept)
    many = "no finding" if not found.findings else f"{len(found.findings)} findings"
    click.echo(f"{ops} ops at {count} points: {many}, in {seconds:.0f} s.")
    sys.exit(bool(found.findings))

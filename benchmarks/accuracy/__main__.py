"""Sweep every elementwise op, print its worst errors, and leave them in benchmarks/results/."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import joblib
from rich.console import Console
from rich.progress import track

from gradspec_codegen.render.to_sympy import NotSymbolic

from .. import machine
from .bounds import broken, listed, unused
from .report import print_table, print_verdict, write_json
from .subjects import Subject, subjects
from .sweep import Finding, has_torch, sweep

RESULTS = Path(__file__).parents[1] / "results"

USUAL = 3
"""Some hundred points or pairs for each op: two minutes on two cores."""


@click.command(epilog="Exit status: 1 if a bound is broken where no exception is listed.")
@click.argument("ops", nargs=-1)
@click.option("--thin", default=USUAL, show_default=True, help="Look at every THIN-th point.")
@click.option("--jobs", default=-1, help="Processes; one for each core unless given.")
def main(ops: tuple[str, ...], thin: int, jobs: int) -> None:
    """Measure the accuracy of values and gradients, of all elementwise ops or of some (OPS)."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=140)
    if not has_torch():
        console.print("PyTorch is not installed; `make oracle` installs it for the comparison.\n")
    chosen = [s for s in subjects() if not ops or s.op.signature.name in ops]
    if not chosen:
        raise click.UsageError(f"no elementwise op is called {' or '.join(ops)}")
    tasks = joblib.Parallel(jobs, return_as="generator")(
        joblib.delayed(_swept)(subject, thin) for subject in chosen
    )
    findings: list[Finding] = []
    for outcome in track(tasks, "sweeping", len(chosen), console=console, transient=True):
        if isinstance(outcome, str):
            console.print(outcome)
        else:
            findings += outcome
    exceptions = listed()
    print_table(findings, exceptions, console)
    print_verdict(findings, exceptions, console)
    if not ops and thin <= USUAL:
        RESULTS.mkdir(exist_ok=True)
        write_json(findings, machine.describe(), RESULTS / "accuracy.json")
    if not ops and thin == 1:
        for exception in unused(exceptions, findings):
            console.print(f"No longer needed: the exception for {exception.op}, {exception.where}")
    sys.exit(any(broken(finding, exceptions) for finding in findings))


def _swept(subject: Subject, thin: int) -> list[Finding] | str:
    try:
        return sweep(subject, with_torch=has_torch(), thin=thin)
    except NotSymbolic as reason:
        return f"Not swept: {subject.label}: {reason}."


if __name__ == "__main__":
    main()

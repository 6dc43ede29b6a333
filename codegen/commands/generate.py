"""`gradspec codegen` and `gradspec prove`."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import click

from ..diagnostics import SpecError
from ..pipeline import Outcome, ProofFailure, Target, generate, is_fresh
from ..progress import ProofProgress
from .options import (
    fail,
    interrupted,
    jobs_option,
    json_option,
    out_option,
    package_option,
    show_json,
    shown_path,
    spec_argument,
    target_of,
)

_EPILOG = "Exit status: 0 every formula holds; 1 a mistake or a refuted formula; 2 usage."


@click.command(
    short_help="Prove what changed, and write the library.",
    epilog="Exit status: 0 written, or nothing to do; 1 a mistake, a refuted formula, or (--check) "
    "stale code; 2 usage.",
)
@spec_argument
@out_option
@package_option
@jobs_option
@click.option("--check", is_flag=True, help="Write nothing; fail if the generated code is stale.")
@json_option
def codegen(
    spec: Path, out: Path | None, package: str | None, jobs: int, check: bool, as_json: bool
) -> None:
    """Prove the formulas of SPEC that changed, and write the library.

    SPEC is specs/derivatives.yaml unless given. Nothing is written unless every formula holds.
    """
    target = target_of(spec, out, package)
    if check:
        _check(target, as_json)
        return
    _run(target, jobs, prove_all=False, as_json=as_json)


@click.command(short_help="Prove the formulas; with --all from nothing.", epilog=_EPILOG)
@spec_argument
@out_option
@package_option
@jobs_option
@click.option("--all", "everything", is_flag=True, help="Prove every op, also unchanged ones.")
@json_option
def prove(
    spec: Path, out: Path | None, package: str | None, jobs: int, everything: bool, as_json: bool
) -> None:
    """Prove the formulas of SPEC; with --all from nothing, whatever the lock says."""
    _run(target_of(spec, out, package), jobs, prove_all=everything, as_json=as_json)


def _run(target: Target, jobs: int, *, prove_all: bool, as_json: bool) -> None:
    started = time.perf_counter()
    try:
        with ProofProgress() as progress:
            outcome = generate(
                target,
                jobs=jobs,
                prove_all=prove_all,
                begin=lambda stale: progress.begin(len(stale)),
                progress=lambda verdict: progress.advance(f"{verdict.name}: {verdict.status}"),
            )
    except SpecError as error:
        fail(error, as_json=as_json)
    except ProofFailure as failure:
        from ..mutate.advice import advised  # loads sympy, which a run without proofs spares

        fail(advised(failure, target.package), as_json=as_json)
    except KeyboardInterrupt:
        interrupted()
    seconds = time.perf_counter() - started
    if as_json:
        _report_json(outcome, seconds)
    else:
        _report(outcome, target, seconds)


def _check(target: Target, as_json: bool) -> None:
    try:
        fresh = is_fresh(target)
    except SpecError as error:
        fail(error, as_json=as_json)
    if as_json:
        show_json({"ok": fresh, "out": str(target.out), "spec": str(target.spec)})
    elif fresh:
        click.echo(f"{shown_path(target.out)} fits {shown_path(target.spec)}.")
    else:
        click.echo(f"{target.out} does not fit {target.spec}: run `make codegen`.", err=True)
    sys.exit(0 if fresh else 1)


def _report(outcome: Outcome, target: Target, seconds: float) -> None:
    counts = Counter(entry.status for entry in outcome.entries.values())
    states = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
    total, now = len(outcome.entries), len(outcome.verdicts)
    click.echo(
        f"{total} {'op' if total == 1 else 'ops'}: {states}; {now} proved now, in {seconds:.1f} s."
    )
    verb = "Wrote" if outcome.wrote else "Unchanged:"
    click.echo(f"{verb} {shown_path(target.out)}")


def _report_json(outcome: Outcome, seconds: float) -> None:
    show_json(
        {
            "ok": True,
            "wrote": outcome.wrote,
            "seconds": round(seconds, 3),
            "ops": [
                {
                    "name": entry.name,
                    "status": entry.status,
                    "identities": entry.identities,
                    "chambers": entry.chambers,
                }
                for entry in outcome.entries.values()
            ],
            "proved_now": [verdict.to_json() for verdict in outcome.verdicts],
        }
    )

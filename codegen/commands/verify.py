"""`gradspec verify`."""

from __future__ import annotations

import time
from pathlib import Path

import click

from ..certification import Verification
from ..certification import verify as verify_certificate
from ..diagnostics import SpecError
from ..progress import ProofProgress
from .options import (
    FilePath,
    backend_option,
    fail,
    interrupted,
    jobs_option,
    json_option,
    kernels_option,
    out_option,
    package_option,
    seed_option,
    show_json,
    spec_option,
)
from .place import target_of


@click.command(
    short_help="Check a certificate of proofs again.",
    epilog="Exit status: 0 it holds; 1 it does not, or is no certificate; 2 usage.",
)
@click.argument("file", type=FilePath(path_type=Path))
@spec_option
@out_option
@package_option
@kernels_option
@jobs_option
@backend_option
@seed_option
@json_option
def verify(
    file: Path,
    spec: Path | None,
    out: str | None,
    package: str | None,
    kernels: Path | None,
    jobs: int,
    backend: str,
    seed: str,
    as_json: bool,
) -> None:
    """Check the certificate FILE again, which `gradspec prove --certificate` wrote.

    It must be about the code that is here. The ops are run on symbols in every chamber that it
    names, and every identity is checked at points drawn anew; chambers are not searched for.
    """
    target = target_of(spec, out, package, kernels, as_json=as_json)
    started = time.perf_counter()
    try:
        with ProofProgress("Checking") as progress:
            found = verify_certificate(
                target,
                file,
                jobs=jobs,
                seed=seed,
                backend=backend,
                begin=progress.begin,
                progress=lambda outcome: progress.advance(outcome.name),
            )
    except SpecError as error:
        fail(error, as_json=as_json, end="the certificate is refused")
    except KeyboardInterrupt:
        interrupted()
    seconds = time.perf_counter() - started
    if as_json:
        _report_json(found, seconds)
    else:
        _report(found, seconds)


def _report(found: Verification, seconds: float) -> None:
    outcomes = found.outcomes
    ops = f"{len(outcomes)} op{'' if len(outcomes) == 1 else 's'}"
    what = f"all {ops}" if found.scope == "all" else ops
    click.echo(
        f"The certificate holds for {what}: checked in {seconds:.1f} s with seed {found.seed}."
    )
    counts = (
        (sum(each.equal for each in outcomes), "identities have the same expression on both sides"),
        (sum(each.by_residues for each in outcomes), "hold at a random point of a finite field"),
        (sum(each.by_numbers for each in outcomes), "hold to 50 digits at random points"),
        (sum(each.tested for each in outcomes), "are differences of ops tested with numbers only"),
        (sum(each.left for each in outcomes), "calls beside the examples rest on the proof"),
    )
    for number, text in counts:
        if number:
            click.echo(f"  {number:>7}  {text}")
    for package in found.other_versions:
        click.echo(f"It was made with another version: {package}.")


def _report_json(found: Verification, seconds: float) -> None:
    show_json(
        {
            "ok": True,
            "scope": found.scope,
            "seed": found.seed,
            "seconds": round(seconds, 3),
            "other_versions": list(found.other_versions),
            "ops": [outcome.to_json() for outcome in found.outcomes],
        }
    )

"""`gradspec codegen`, and what `gradspec prove` shares with it."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections import Counter
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import NoReturn

import click
from rich.console import Console

from ..certification import check_replaceable, write
from ..diagnostics import SpecError, render_help
from ..pipeline import Outcome, ProofFailure, differences, generate
from ..progress import ProofProgress
from ..prove.report.verdict import LOST
from ..target import Target
from .options import (
    end_with_mistakes,
    fail,
    framework_option,
    interrupted,
    jobs_option,
    json_option,
    kernels_option,
    out_option,
    package_option,
    proofs_option,
    show_json,
    show_mistakes,
    shown_path,
    spec_argument,
)
from .place import target_of

discard_option = click.option(
    "--discard-edits", is_flag=True, help="Overwrite generated files that were edited since."
)


@click.command(
    short_help="Prove what changed, and write the library.",
    epilog="Exit status: 0 written, or nothing to do; 1 a mistake, a refuted formula, or (--check) "
    "stale code; 2 usage.",
)
@spec_argument
@out_option
@package_option
@framework_option
@proofs_option
@kernels_option
@jobs_option
@click.option("--check", is_flag=True, help="Write nothing; fail if the generated code is stale.")
@discard_option
@json_option
def codegen(
    spec: Path | None,
    out: str | None,
    package: str | None,
    framework: str,
    proofs: Path | None,
    kernels: Path | None,
    jobs: int,
    check: bool,
    discard_edits: bool,
    as_json: bool,
) -> None:
    """Prove the formulas of SPEC that changed, and write the library.

    SPEC is that of the project unless given: `spec` under [tool.gradspec] in pyproject.toml, where
    `out`, `package` and `kernels` may stand too. Nothing is written unless every formula holds, and
    only into a folder that is absent, empty or was generated before. With `--target torch` or
    `--target jax` the package has functions of PyTorch or JAX, with the rules that were proved.
    """
    target = target_of(
        spec, out, package, kernels, framework=framework, writes=True, as_json=as_json
    )
    target = dataclasses.replace(target, proofs=proofs)
    if check:
        _check(target, as_json)
        return
    run(target, jobs, prove_all=False, discard_edits=discard_edits, as_json=as_json)


def run(
    target: Target,
    jobs: int,
    *,
    prove_all: bool,
    discard_edits: bool,
    as_json: bool,
    backend: str = "",
    certificate: Path | None = None,
) -> None:
    """Prove, write the library, and say so; exit with status 1 if that fails."""
    started = time.perf_counter()
    try:
        if certificate is not None:
            check_replaceable(certificate)
        with ProofProgress() as progress:
            outcome = generate(
                target,
                jobs=jobs,
                prove_all=prove_all,
                discard_edits=discard_edits,
                begin=lambda stale: progress.begin(len(stale)),
                progress=lambda verdict: progress.advance(f"{verdict.name}: {verdict.status}"),
                backend=backend,
                certify=None if certificate is None else partial(write, certificate),
            )
    except SpecError as error:
        fail(error, as_json=as_json, texts=_texts(target))
    except ProofFailure as failure:
        refuted(failure, target, as_json=as_json)
    except KeyboardInterrupt:
        interrupted()
    seconds = time.perf_counter() - started
    if as_json:
        _report_json(outcome, seconds)
    else:
        _report(outcome, target, seconds)


def refuted(failure: ProofFailure, target: Target, *, as_json: bool) -> NoReturn:
    """Show what is wrong with the formulas, then what helps, and exit."""
    from ..mutate import advice  # loads sympy, which a run without proofs spares

    if as_json:
        fail(advice.advised(failure, target.staged_as), as_json=True)
    error = advice.unadvised(failure)
    show_mistakes(error)
    color = sys.stderr.isatty()
    with Console(stderr=True).status("Looking for what was meant") if color else nullcontext():
        found = list(advice.helps(failure, target.staged_as))
    are_many = len(failure.failures) > 1
    if are_many and found:
        click.echo("", err=True)
    for name, help in found:
        title = f"help for `{name}`" if are_many else "help"
        click.echo(render_help(error.diagnostics[0], help, title, color=color), err=True)
    click.echo("", err=True)
    end_with_mistakes(error)


def _texts(target: Target) -> dict[str, str]:
    """Return the texts in which mistakes in options are shown."""
    return {"--out": target.named, "--target": target.framework}


def _check(target: Target, as_json: bool) -> None:
    assert target.out is not None
    try:
        found = differences(target)
    except SpecError as error:
        fail(error, as_json=as_json, texts=_texts(target))
    out, spec = shown_path(target.out), shown_path(target.spec)
    if as_json:
        show_json({"ok": not found, "out": out, "spec": spec, "differences": found})
    elif found:
        told = [*found[:_MOST_TOLD], *([f"and {len(found) - _MOST_TOLD} more"] * _more(found))]
        click.echo(f"{out} does not fit {spec}:\n", err=True)
        click.echo("".join(f"  {line}\n" for line in told), err=True)
        click.echo(f"Run `{target.command}`.", err=True)
    else:
        click.echo(f"{out} fits {spec}.")
    sys.exit(1 if found else 0)


_MOST_TOLD = 20


def _more(found: list[str]) -> bool:
    return len(found) > _MOST_TOLD


def _report(outcome: Outcome, target: Target, seconds: float) -> None:
    counts = Counter(entry.status for entry in outcome.entries.values())
    states = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
    total, now = len(outcome.entries), len(outcome.verdicts)
    new = f"{now} proved now" if now else "none has changed since its proof"
    if total:
        click.echo(f"{total} {'op' if total == 1 else 'ops'}: {states}; {new}, in {seconds:.1f} s.")
    else:
        click.echo(f"{target.source} has no entry: `gradspec new` prints the skeleton of one.")
    verb = "Wrote" if outcome.wrote else "Unchanged:"
    click.echo(f"{verb} {shown_path(target.out or target.spec)}")
    for sentence in outcome.unknown:
        click.echo(f"warning: {sentence}", err=True)
    for verdict in outcome.verdicts:
        for note in verdict.notes:
            if note.startswith(LOST):
                help = "`gradspec lint` shows where, and what to write instead"
                click.echo(f"warning: `{verdict.name}`: {note}; {help}", err=True)


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
            "unknown": list(outcome.unknown),
        }
    )

"""The `gradspec` command."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import NoReturn

import click

from .diagnostics import SpecError, render
from .emit.package import GENERATED_PACKAGE
from .pipeline import Outcome, ProofFailure, Target, generate, is_fresh
from .progress import ProofProgress

DEFAULT_SPEC = Path("specs/derivatives.yaml")

_EPILOG = (
    "Exit status: 0 all is well; 1 the spec or a proof failed, or generated/ is stale; 2 usage."
)


@click.group(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="gradspec")
def main() -> None:
    """PyTorch's autograd code generator in Python: wrong formulas are not generated."""


def _target(spec: Path, out: Path | None, package: str | None) -> Target:
    """Where to write: beside the folder of the spec, unless told otherwise."""
    if out is None:
        return Target(
            spec, spec.resolve().parent.parent / "generated", package or GENERATED_PACKAGE
        )
    return Target(spec, out.resolve(), package or out.resolve().name)


_spec_argument = click.argument(
    "spec", type=click.Path(path_type=Path, exists=True, dir_okay=False), default=DEFAULT_SPEC
)
_out_option = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the generated package. By default `generated` beside the folder of SPEC.",
)
_package_option = click.option(
    "--package",
    help="Import name of the generated package. By default gradspec.generated, or the name of "
    "--out: then the ops are added to gradspec's own.",
)
_jobs_option = click.option(
    "--jobs",
    "-j",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    show_default="all cores",
    help="Processes that prove side by side.",
)


@main.command()
@_spec_argument
@_out_option
@_package_option
@_jobs_option
@click.option("--check", is_flag=True, help="Write nothing; fail if the generated code is stale.")
def codegen(spec: Path, out: Path | None, package: str | None, jobs: int, check: bool) -> None:
    """Prove the formulas of SPEC that changed, and write the library.

    SPEC is specs/derivatives.yaml unless given. Nothing is written unless every formula holds.
    """
    target = _target(spec, out, package)
    if check:
        _check(target)
        return
    _report(_run(target, jobs, prove_all=False), target)


@main.command()
@_spec_argument
@_out_option
@_package_option
@_jobs_option
@click.option("--all", "everything", is_flag=True, help="Prove every op, also unchanged ones.")
def prove(spec: Path, out: Path | None, package: str | None, jobs: int, everything: bool) -> None:
    """Prove the formulas of SPEC; with --all from nothing, whatever the lock says."""
    target = _target(spec, out, package)
    _report(_run(target, jobs, prove_all=everything), target)


def _run(target: Target, jobs: int, *, prove_all: bool) -> tuple[Outcome, float]:
    started = time.perf_counter()
    try:
        with ProofProgress() as progress:
            outcome = generate(
                target,
                jobs=jobs,
                prove_all=prove_all,
                begin=progress.begin,
                progress=progress.advance,
            )
    except SpecError as error:
        _fail(error)
    except ProofFailure as failure:
        _fail(failure.as_spec_error())
    except KeyboardInterrupt:
        click.echo("Interrupted; nothing was written.", err=True)
        sys.exit(130)
    return outcome, time.perf_counter() - started


def _check(target: Target) -> None:
    try:
        fresh = is_fresh(target)
    except SpecError as error:
        _fail(error)
    if not fresh:
        click.echo(f"{target.out} does not fit {target.spec}: run `make codegen`.", err=True)
        sys.exit(1)
    click.echo(f"{_relative(target.out)} fits {_relative(target.spec)}.")


def _fail(error: SpecError) -> NoReturn:
    click.echo(render(error.diagnostics, color=sys.stderr.isatty()), err=True)
    count = len(error.diagnostics)
    click.echo(f"\n{count} mistake{'s' if count > 1 else ''}; nothing was written.", err=True)
    sys.exit(1)


def _report(done: tuple[Outcome, float], target: Target) -> None:
    outcome, seconds = done
    counts: dict[str, int] = {}
    for entry in outcome.entries.values():
        counts[entry.status] = counts.get(entry.status, 0) + 1
    states = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
    click.echo(
        f"{len(outcome.entries)} ops: {states}; {len(outcome.verdicts)} of them proved now, "
        f"in {seconds:.1f} s."
    )
    verb = "Wrote" if outcome.wrote else "Unchanged:"
    click.echo(f"{verb} {_relative(target.out)}")


def _relative(path: Path) -> str:
    """Shorter where it can be: relative to where the user stands."""
    path = path.resolve()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)

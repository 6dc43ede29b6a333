"""`gradspec prove`."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import click

from ..agreement.agree import agreements
from ..agreement.worker import Agreement
from ..certification import UnknownOp, prove_named
from ..diagnostics import SpecError
from ..pipeline import ProofFailure
from ..progress import ProofProgress
from ..prove.report.verdict import OpVerdict
from ..target import NUMPY, Target
from .generate import discard_option, refuted, run
from .options import (
    FilePath,
    backend_option,
    fail,
    framework_option,
    interrupted,
    jobs_option,
    json_option,
    kernels_option,
    out_option,
    package_option,
    show_json,
    shown_path,
)
from .place import target_of


@click.command(
    short_help="Prove what changed, every op (--all), or some ops.",
    epilog="Exit status: 0 every formula holds; 1 a mistake or a refuted formula; 2 usage.",
)
@click.argument("words", nargs=-1, metavar="[SPEC] [OP]...")
@out_option
@package_option
@framework_option
@kernels_option
@click.option(
    "--run",
    "runs",
    metavar="MODULE",
    multiple=True,
    help="Module of yours that SPEC names as `torch: {kernel: MODULE.NAME}`: with --target, "
    "functions of it may be run. May be given again.",
)
@jobs_option
@backend_option
@click.option("--all", "everything", is_flag=True, help="Prove every op, also unchanged ones.")
@click.option(
    "--certificate",
    type=FilePath(path_type=Path, dir_okay=False),
    help="Write to this file what was proved, for `gradspec verify`. With --all, or OPs.",
)
@discard_option
@json_option
def prove(
    words: tuple[str, ...],
    out: str | None,
    package: str | None,
    framework: str,
    kernels: Path | None,
    runs: tuple[str, ...],
    jobs: int,
    backend: str,
    everything: bool,
    certificate: Path | None,
    discard_edits: bool,
    as_json: bool,
) -> None:
    """Prove the formulas of SPEC; with --all every one, whatever the lock says.

    Of OPs, named as for `gradspec explain`, those are proved and no package is written. With
    `--target torch` or `--target jax` nothing is written either: the code that is emitted for the
    framework, which has to be installed, is run at the witnesses of the proof in float64, and its
    results, gradients, tangents and second derivatives are compared with the exact values.
    """
    spec, names = _told(words)
    if framework != NUMPY:
        if everything or certificate is not None or discard_edits:
            raise click.UsageError("--target compares emitted code, which is not proved by itself.")
        target = target_of(spec, None, package, kernels, as_json=as_json)
        _compare(target, names, framework, runs, jobs, as_json)
        return
    if runs:
        raise click.UsageError("--run is about functions of frameworks: give --target, too.")
    if names and everything:
        raise click.UsageError("Name ops, or give --all, not both.")
    if certificate is not None and not (names or everything):
        raise click.UsageError(
            "A certificate is about what is proved now: give --all, or the names of ops."
        )
    target = target_of(spec, out, package, kernels, writes=not names, as_json=as_json)
    if names:
        _prove_named(target, names, jobs, backend, certificate, as_json)
        return
    run(
        target,
        jobs,
        prove_all=everything,
        discard_edits=discard_edits,
        as_json=as_json,
        backend=backend,
        certificate=certificate,
    )


def _told(words: tuple[str, ...]) -> tuple[Path | None, tuple[str, ...]]:
    """Tell the spec, which is a YAML file, from the names of ops."""
    if not words:
        return None, ()
    first = Path(words[0])
    if first.suffix not in (".yaml", ".yml") and not first.is_file():
        return None, words
    if first.exists() and not first.is_file():
        raise click.BadParameter(f"'{first}' is no regular file.", param_hint="'[SPEC]'")
    if not first.is_file():
        raise click.BadParameter(f"File '{first}' does not exist.", param_hint="'[SPEC]'")
    return first, words[1:]


def _prove_named(
    target: Target,
    names: tuple[str, ...],
    jobs: int,
    backend: str,
    certificate: Path | None,
    as_json: bool,
) -> None:
    started = time.perf_counter()
    try:
        with ProofProgress() as progress:
            verdicts = prove_named(
                target,
                names,
                jobs=jobs,
                backend=backend,
                certificate_path=certificate,
                begin=lambda ops: progress.begin(len(ops)),
                progress=lambda verdict: progress.advance(f"{verdict.name}: {verdict.status}"),
            )
    except UnknownOp as unknown:
        help = f" {unknown.help[0].upper()}{unknown.help[1:]}" if unknown.help else ""
        click.echo(f"{unknown}{help}", err=True)
        sys.exit(1)
    except SpecError as error:
        fail(error, as_json=as_json)
    except ProofFailure as failure:
        refuted(failure, target, as_json=as_json)
    except KeyboardInterrupt:
        interrupted()
    _report(verdicts, certificate, time.perf_counter() - started, as_json)


def _compare(
    target: Target,
    names: tuple[str, ...],
    framework: str,
    runs: tuple[str, ...],
    jobs: int,
    as_json: bool,
) -> None:
    started = time.perf_counter()
    try:
        with ProofProgress("Comparing") as progress:
            found, refused = agreements(
                target,
                names,
                framework,
                runs=runs,
                jobs=jobs,
                begin=progress.begin,
                progress=lambda agreement: progress.advance(agreement.name),
            )
    except UnknownOp as unknown:
        click.echo(f"{unknown} {unknown.help}".strip(), err=True)
        sys.exit(1)
    except SpecError as error:
        fail(error, as_json=as_json, texts={"--target": framework})
    except KeyboardInterrupt:
        interrupted()
    different = [agreement for agreement in found if agreement.problems]
    seconds = round(time.perf_counter() - started, 1)
    if as_json:
        told = [asdict(agreement) for agreement in found]
        left_out = [diagnostic.message for diagnostic in refused]
        ok = not different
        show_json({"ok": ok, "seconds": seconds, "agreements": told, "not_emitted": left_out})
    else:
        _show_agreements(found, len(refused), framework, seconds)
    sys.exit(1 if different else 0)


def _show_agreements(found: list[Agreement], refused: int, framework: str, seconds: float) -> None:
    for agreement in found:
        for problem in agreement.problems:
            click.echo(f"{agreement.name}: {problem}", err=True)
        if agreement.not_compared:
            click.echo(f"{agreement.name}: not compared: {agreement.not_compared}", err=True)
    compared = [a for a in found if a.values and not a.problems]
    numbers = sum(agreement.values for agreement in compared)
    different = sum(bool(agreement.problems) for agreement in found)
    states = [f"{len(compared)} agree to 1e-9 in {numbers} numbers", f"{different} differ"]
    without = len(found) - len(compared) - different
    states += [f"{without} not compared"] * bool(without)
    states += [f"{refused} reasons why an op is not emitted"] * bool(refused)
    ops = f"{len(found)} op{'' if len(found) == 1 else 's'}"
    click.echo(f"{ops} on {framework}: {', '.join(states)}, in {seconds} s.")


def _report(
    verdicts: list[OpVerdict], certificate: Path | None, seconds: float, as_json: bool
) -> None:
    if as_json:
        proved = [verdict.to_json() for verdict in verdicts]
        show_json({"ok": True, "seconds": round(seconds, 3), "proved_now": proved})
        return
    for verdict in verdicts:
        chambers = f"{verdict.chambers} chamber{'' if verdict.chambers == 1 else 's'}"
        click.echo(f"{verdict.name}: {verdict.status}, {verdict.identities} identities, {chambers}")
    counts = Counter(verdict.status for verdict in verdicts)
    states = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
    ops = f"{len(verdicts)} op{'' if len(verdicts) == 1 else 's'}"
    click.echo(f"{ops}: {states}, in {seconds:.1f} s.")
    if certificate is not None:
        click.echo(f"Wrote {shown_path(certificate)}")

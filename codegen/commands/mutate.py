"""`gradspec mutate`: test that the proof refutes every small mistake."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table as Grid

from ..authoring.explanation import find_ops, suggestion
from ..diagnostics import SpecError
from ..mutate.mutants import VALUE, Mutant, mutants_of
from ..mutate.trial import BrokenTrial, Fate, Outcome, score, try_mutants
from ..pipeline import Plan, plan
from ..progress import ProofProgress
from ..spec.model import Formula, Table
from ..target import Target
from .options import (
    fail,
    interrupted,
    jobs_option,
    json_option,
    kernels_option,
    out_option,
    package_option,
    show_json,
    spec_option,
)
from .place import target_of


@click.command(
    short_help="Test the proof with wrong formulas.",
    epilog="Exit status: 0 no mutant survived; 1 one did, or the spec has mistakes; 2 usage.",
)
@click.argument("ops", nargs=-1, metavar="[OP]...")
@spec_option
@out_option
@package_option
@kernels_option
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Try N mutants only, the same ones every time.",
)
@click.option("--equivalents", is_flag=True, help="List the mutants that change nothing as well.")
@jobs_option
@json_option
def mutate(
    ops: tuple[str, ...],
    spec: Path | None,
    out: str | None,
    package: str | None,
    kernels: Path | None,
    sample: int | None,
    equivalents: bool,
    jobs: int,
    as_json: bool,
) -> None:
    """Make every formula of OP (of all ops) wrong in every small way, and prove each mutant.

    A mutant has one sign, operator, operand, factor, term, constant, flag, branch or comparison of
    one VJP or JVP changed; where a kernel computes a definition, also of that or of the call. It is
    killed if the proof refutes it. One that is proved is equivalent if no other call tells it from
    the original, and a survivor if one does: then the examples of the op are too weak.
    """
    target = target_of(spec, out, package, kernels, as_json=as_json)
    try:
        planned = plan(target)
        mutants = _chosen(planned, ops, sample)
        started = time.perf_counter()
        outcomes = _try(mutants, planned, target, jobs)
    except SpecError as error:
        fail(error, as_json=as_json)
    except BrokenTrial as error:
        click.echo(f"Nothing to learn from mutants: {error}.", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        interrupted()
    if as_json:
        _show_json(outcomes)
    else:
        _show(outcomes, planned.table, equivalents)
        click.echo(f"In {time.perf_counter() - started:.0f} s.")
    sys.exit(any(outcome.fate is Fate.SURVIVED for outcome in outcomes))


def _chosen(planned: Plan, names: Sequence[str], sample: int | None) -> list[Mutant]:
    table, everything = planned.table, planned.everything
    ops = list(table.ops)
    if names:
        found = {name: find_ops(table, name, everything) for name in names}
        for name, matches in found.items():
            if not matches:
                raise click.BadParameter(f"there is no op `{name}`. {suggestion(table, name)}")
        ops = [op for op in table.ops if any(op in matches for matches in found.values())]
    mutants = [mutant for op in ops for mutant in mutants_of(op, everything)]
    if sample is not None and sample < len(mutants):
        mutants = random.Random(0).sample(mutants, sample)
    from ..mutate.acceptable import those_generated  # loads sympy, which other commands spare

    return those_generated(mutants, everything)


def _try(mutants: list[Mutant], planned: Plan, target: Target, jobs: int) -> list[Outcome]:
    with ProofProgress() as progress:
        progress.begin(len(mutants) + len({mutant.original for mutant in mutants}))
        return try_mutants(
            mutants,
            planned.table,
            target.staged_as,
            base=planned.base,
            kernels=planned.kernels,
            jobs=jobs,
            progress=lambda verdict: progress.advance(f"{verdict.name}: {verdict.status}"),
        )


def _show(outcomes: Sequence[Outcome], table: Table, equivalents: bool) -> None:
    if not outcomes:
        click.echo("0 mutants: no formula of these ops can be made wrong, so nothing was tried.")
        return
    console = Console(highlight=False)
    console.print(_grid(outcomes))
    for fate, shown in (
        (Fate.EQUIVALENT, equivalents),
        (Fate.SURVIVED, True),
        (Fate.UNTRIED, True),
    ):
        some = [outcome for outcome in outcomes if outcome.fate is fate]
        if some and shown:
            console.print(f"\n{fate.value.capitalize()}:", style="bold")
            for outcome in some:
                console.print(_described(outcome, table), markup=False, soft_wrap=True)
    fates = Counter(outcome.fate for outcome in outcomes)
    counts = ", ".join(f"{fates[fate]} {fate.value}" for fate in _met(outcomes))
    click.echo(f"\n{len(outcomes)} mutants: {counts}. Score {100 * score(outcomes):.1f} %.")


def _met(outcomes: Sequence[Outcome]) -> list[Fate]:
    """The fates to show; that of not having been tried is rare."""
    met = {outcome.fate for outcome in outcomes}
    return [fate for fate in Fate if fate is not Fate.UNTRIED or fate in met]


def _grid(outcomes: Sequence[Outcome]) -> Grid:
    """Tabulate the mutants, a row for each kind of mistake."""
    grid = Grid(title="Mutants by mistake", title_justify="left")
    grid.add_column("mistake")
    fates = _met(outcomes)
    for heading in ("mutants", *(fate.value for fate in fates)):
        grid.add_column(heading, justify="right")
    counts = Counter((outcome.mutant.kind, outcome.fate) for outcome in outcomes)
    for kind in sorted({kind for kind, _ in counts}):
        numbers = [counts[kind, fate] for fate in fates]
        grid.add_row(kind, str(sum(numbers)), *map(str, numbers))
    return grid


def _described(outcome: Outcome, table: Table) -> str:
    mutant = outcome.mutant
    op = table.by_name(mutant.original)
    of_mode: dict[str, dict[str, object]] = {
        "VJP": {", ".join(names): rule for names, rule in op.vjps},
        "JVP": dict(op.jvps),
        VALUE: {"forward": op.forward, "kernel": op.kernel},
    }
    rule = of_mode[mutant.mode][mutant.key]
    place = rule.locate(mutant.place) if isinstance(rule, Formula) else op.span
    return f"  {place}: {mutant}\n      {outcome.reason}"


def _show_json(outcomes: Sequence[Outcome]) -> None:
    fates = Counter(outcome.fate for outcome in outcomes)
    show_json(
        {
            "ok": fates[Fate.SURVIVED] == 0,
            "score": score(outcomes),
            **{fate.value: fates[fate] for fate in Fate},
            "mutants": [outcome.to_json() for outcome in outcomes],
        }
    )

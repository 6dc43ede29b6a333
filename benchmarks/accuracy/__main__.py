"""Sweep every elementwise op here and in other libraries, and compare the errors."""

from __future__ import annotations

from pathlib import Path

import click
import joblib
from rich.console import Console
from rich.markdown import Markdown
from rich.progress import track

from gradspec_codegen.lint.subjects import Subject, reachable, subjects
from gradspec_codegen.render.to_sympy import NotSymbolic
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import OpSpec, Table
from gradspec_codegen.target import builtin_spec

from .. import machine
from .calls import Called, measure, ops_called
from .race import Entry, race
from .report import markdown, put_into, write_calls, write_json, write_measured

RESULTS = Path(__file__).parents[1] / "results"
MEASURED = Path(__file__).with_name("measured.json")
CALLS = Path(__file__).with_name("calls.json")
DOCUMENT = Path(__file__).parents[2] / "docs" / "accuracy.md"


@click.command()
@click.argument("ops", nargs=-1)
@click.option("--thin", default=3, show_default=True, help="Look at every THIN-th point.")
@click.option("--jobs", default=-1, help="Processes; one for each core unless given.")
@click.option("--write", is_flag=True, help="Put the tables into docs/accuracy.md.")
@click.option("--calls", is_flag=True, help="Look at calls of the ops that are not swept.")
def main(ops: tuple[str, ...], thin: int, jobs: int, write: bool, calls: bool) -> None:
    """Compare the errors of gradspec with those of PyTorch, JAX, autograd and MyGrad.

    All elementwise ops are swept, or some (OPS), at the points of `gradspec lint`, which says what
    is wrong with ours. Libraries that are not installed are left out. Calls of some ops replace
    what was measured of these before.
    """
    console = Console()
    table = load_table(builtin_spec())
    if calls:
        _look_at_calls(table, ops, jobs, console)
        return
    chosen = [s for s in subjects(table, table) if not ops or s.op.signature.name in ops]
    if not chosen:
        raise click.UsageError(f"no elementwise op is called {' or '.join(ops)}")
    tasks = joblib.Parallel(jobs, return_as="generator")(
        joblib.delayed(_raced)(subject, reachable(subject.op, table), thin) for subject in chosen
    )
    entries: list[Entry] = []
    for outcome in track(tasks, "sweeping", len(chosen), console=console, transient=True):
        if isinstance(outcome, str):
            console.print(outcome)
        else:
            entries += outcome
    text = markdown(entries, machine.describe())
    console.print(Markdown(text))
    if write:
        put_into(DOCUMENT, text)
    if not ops:
        RESULTS.mkdir(exist_ok=True)
        write_json(entries, machine.describe(), RESULTS / "accuracy.json")
        write_measured(entries, machine.describe(), MEASURED)


def _look_at_calls(table: Table, names: tuple[str, ...], jobs: int, console: Console) -> None:
    chosen = [
        op for op in ops_called(table) if not names or {op.name, op.signature.name} & {*names}
    ]
    tasks = joblib.Parallel(jobs, return_as="generator")(
        joblib.delayed(_called)(op) for op in chosen
    )
    found: list[Called] = []
    left: dict[str, str] = {}
    outcomes = track(tasks, "calling", len(chosen), console=console, transient=True)
    for op, outcome in zip(chosen, outcomes, strict=True):
        if isinstance(outcome, str):
            console.print(f"{op.name}: {outcome}.")
            left[op.name] = outcome
        else:
            found.append(outcome)
    if not names:
        CALLS.unlink(missing_ok=True)
    write_calls(found, left, machine.describe(), CALLS)


def _called(op: OpSpec) -> Called | str:
    from gradspec.dispatch.registry import import_all

    import_all()
    return measure(op)


def _raced(subject: Subject, table: Table, thin: int) -> list[Entry] | str:
    from gradspec.dispatch.registry import import_all

    import_all()
    try:
        return race(subject, table, thin=thin)
    except NotSymbolic as reason:
        return f"Not swept: {subject.label}: {reason}."


if __name__ == "__main__":
    main()

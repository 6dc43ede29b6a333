"""Measure everything, print tables, and leave the figures in benchmarks/results/."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import click
from rich.console import Console

from . import baseline, bounds, machine
from .cases import CASES, Case
from .libraries import COMPILED, GRADSPEC, LIBRARIES, taking_part
from .plot import write_plot, write_sizes
from .race import QUICK, THOROUGH, Effort, race
from .report import Row, markdown, write_json, write_sizes_json
from .tables import print_figures, print_ratios
from .workloads import SIZES, WORKLOADS

RESULTS = Path(__file__).parent / "results"
README = Path(__file__).parents[1] / "README.md"
AGAIN = 2
"""The number of times --check measures a slower case again: other programs disturb single ones."""
BEGIN, END = "<!-- measured: make bench -->", "<!-- end of what was measured -->"


@click.command(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit status: 0 done; 1 (--check) slower than the baseline allows; 2 usage.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Rougher figures in two or three minutes instead of twenty-five; no slow cases.",
)
@click.option(
    "--case",
    "cases",
    multiple=True,
    metavar="NAME",
    type=click.Choice(list(CASES)),
    help=f"Measure only this; may be repeated. One of {', '.join(CASES)}.",
)
@click.option(
    "--library",
    "libraries",
    multiple=True,
    metavar="NAME",
    type=click.Choice([name for name in LIBRARIES if name != GRADSPEC.name]),
    help="Measure gradspec against this only; may be repeated. One of "
    f"{', '.join(name for name in LIBRARIES if name != GRADSPEC.name)}.",
)
@click.option(
    "--check",
    is_flag=True,
    help=f"Fail if a ratio to {' or '.join(baseline.REFERENCES)} (of compiled programs to "
    f"{' or '.join(baseline.REFERENCES_OF_COMPILED)}) is more than "
    f"{baseline.MARGIN:.0%} worse than in benchmarks/baseline.json, and so when measured again.",
)
@click.option(
    "--sizes",
    is_flag=True,
    help="Measure one computation at sizes from 1 to 10⁷ elements, and nothing else; a "
    "thorough run of all cases does it at the end.",
)
@click.option("--save-baseline", is_flag=True, help="Make the ratios measured the baseline.")
@click.option("--readme", is_flag=True, help="Put the table into the README as well.")
def main(
    quick: bool,
    cases: Sequence[str],
    libraries: Sequence[str],
    check: bool,
    sizes: bool,
    save_baseline: bool,
    readme: bool,
) -> None:
    """Measure gradspec beside NumPy by hand and whatever is installed of PyTorch, JAX, autograd
    and MyGrad.

    Each library runs in fresh processes; they take turns, and medians are shown. Before the clock
    runs, every library's gradients are compared with those written by hand. The figures go to
    benchmarks/results/ (a selection of cases or libraries to files named `partial`).
    """
    if check and save_baseline:
        raise click.UsageError("--check compares with the baseline that --save-baseline replaces")
    if readme and (cases or libraries or check or quick):
        raise click.UsageError("--readme is for a thorough run of all cases and libraries")
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    if check and not baseline.FILE.exists():
        raise click.UsageError(f"there is no {baseline.FILE}; --save-baseline makes it")
    facts = machine.describe()  # before the benchmarks themselves keep the machine busy
    if check and not baseline.load(facts["cpu"], baseline.FILE):
        known = " and ".join(baseline.processors(baseline.FILE))
        raise click.UsageError(
            f"{baseline.FILE} has no ratios of this processor, {facts['cpu']}; it has those of "
            f"{known}. --save-baseline adds what is measured here"
        )
    say_what_is_missing(console)
    effort = QUICK if quick else THOROUGH
    if sizes:
        measure_sizes(libraries or tuple(LIBRARIES), facts, effort, console)
        return
    checked = (COMPILED.name, *baseline.REFERENCES, *baseline.REFERENCES_OF_COMPILED)
    wanted = libraries or (checked if check else tuple(LIBRARIES))
    is_partial = cases or libraries or check
    stem = RESULTS / ("partial" if is_partial else "results")

    def keep(rows: Sequence[Row]) -> None:
        stem.parent.mkdir(exist_ok=True)
        write_json(rows, facts, effort.name, stem.with_suffix(".json"))

    rows = measure(chosen(cases, quick, check), wanted, effort, console, keep)
    show(rows, facts, console)
    write(rows, facts, effort, stem, console)
    if not (is_partial or quick):
        measure_sizes(wanted, facts, effort, console)
    if readme:
        put_into(README, markdown(rows, facts))
    if save_baseline:
        baseline.save(baseline.ratios(rows), facts, baseline.FILE)
        console.print(f"The baseline is now what was measured: {baseline.FILE}")
    if check:
        committed = baseline.load(facts["cpu"], baseline.FILE)
        again = partial(measure, wanted=wanted, effort=effort, console=console)
        sys.exit(compare(rows, committed, console, again))


def chosen(names: Sequence[str], quick: bool, check: bool) -> list[Case]:
    """The cases asked for; or all but slow ones (quick) and those without a ratio (check)."""
    if names:
        return [CASES[name] for name in dict.fromkeys(names)]
    return [
        case
        for case in CASES.values()
        if not (quick and case.slow) and not (check and len(case.libraries) == 1)
    ]


def case_of(row: str) -> Case:
    """The case that a row belongs to: one that has several names them after itself."""
    return CASES[max((name for name in CASES if row.startswith(name)), key=len)]


def measure(
    cases: Sequence[Case],
    wanted: Sequence[str],
    effort: Effort,
    console: Console,
    keep: Callable[[Sequence[Row]], None] = lambda rows: None,
) -> list[Row]:
    """All rows; a line says what is going on, and `keep` gets what is measured so far."""
    rows: list[Row] = []
    with console.status("") as status:
        for case in cases:
            libraries = [
                library
                for name, library in LIBRARIES.items()
                if name in case.libraries
                and library.is_installed
                and name in (GRADSPEC.name, *wanted)
            ]
            rows += case.measure(libraries, effort, status.update)
            keep(rows)
    return rows


def measure_sizes(
    wanted: Sequence[str], facts: Mapping[str, str], effort: Effort, console: Console
) -> None:
    """Write the cost against the size, as JSON and as a picture."""
    figures: dict[int, dict[str, float]] = {}
    brief = replace(effort, seconds=effort.seconds / 2)
    with console.status("") as status:
        for workload in SIZES.values():
            taking = [
                each for each in taking_part(workload) if each.name in (GRADSPEC.name, *wanted)
            ]
            figures[workload.elements] = race(workload, taking, brief, status.update)
    RESULTS.mkdir(exist_ok=True)
    write_sizes_json(figures, facts, RESULTS / "sizes.json")
    write_sizes(figures, facts, RESULTS / "sizes.svg")
    console.print(f"Written: {RESULTS / 'sizes.svg'}", soft_wrap=True, highlight=False)


def say_what_is_missing(console: Console) -> None:
    """Print why the figures may say less than they could."""
    if machine.is_busy():
        console.print("Other programs are at work on this machine: the figures will say little.\n")
    if not LIBRARIES["torch-2"].is_installed:
        console.print("PyTorch is not installed; `make oracle` installs it for the comparison.\n")


def show(rows: Sequence[Row], facts: Mapping[str, str], console: Console) -> None:
    """Both tables, and where they were measured."""
    print_figures(rows, console)
    print_ratios(rows, bounds.load(WORKLOADS), console)
    console.print(", ".join(f"{name} {fact}" for name, fact in facts.items()), highlight=False)


def write(
    rows: Sequence[Row], facts: Mapping[str, str], effort: Effort, stem: Path, console: Console
) -> None:
    """JSON and picture."""
    stem.parent.mkdir(exist_ok=True)
    figures, picture = stem.with_suffix(".json"), stem.with_suffix(".png")
    write_json(rows, facts, effort.name, figures)
    write_plot(rows, facts, picture)
    console.print(f"Written: {figures}, {picture}", soft_wrap=True, highlight=False)


def compare(
    rows: Sequence[Row],
    committed: baseline.Ratios,
    console: Console,
    again: Callable[[Sequence[Case]], Sequence[Row]],
) -> int:
    """The exit status of --check; says what got worse, and is so when `again` measures it."""
    measured = baseline.ratios(rows)
    for name in baseline.not_in(measured, committed):
        console.print(f"{name} is not in the baseline yet.")
    number = baseline.count_known(measured, committed)
    if not number:
        console.print("Nothing was measured that the baseline has.")
        return 1
    worse = baseline.regressions(measured, committed)
    for _ in range(AGAIN):
        if worse:
            cases = {case.name: case for case in (case_of(each.case) for each in worse)}
            console.print(f"Measured again, because it seems slower: {', '.join(cases)}")
            anew = baseline.ratios(again(list(cases.values())))
            worse = baseline.in_both(worse, baseline.regressions(anew, committed))
    for regression in worse:
        console.print(f"[red]slower:[/] {regression}", highlight=False, soft_wrap=True)
    if not worse:
        margin = f"{baseline.MARGIN:.0%}"
        console.print(f"{number} ratios are within {margin} of the baseline, or better.")
    return 1 if worse else 0


def put_into(document: Path, table: str) -> None:
    """Replace what stands between the document's marks."""
    before, _, rest = document.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    document.write_text(f"{before}{BEGIN}\n{table}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()

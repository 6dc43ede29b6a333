"""Measure everything, print a table, and leave the figures in benchmarks/results/."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track

import gradspec
import gradspec.nn.functional

from . import machine
from .cases import CASES, Array, Case, Workload
from .measure import QUICK, THOROUGH, check_agreement, measure
from .report import BY_HAND, Row, markdown, print_table, pytorch, write_json, write_plot

RESULTS = Path(__file__).parent / "results"
README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- measured: make bench -->", "<!-- end of what was measured -->"
PYTORCH_THREADS = (1, 2)


@click.command()
@click.option("--quick", is_flag=True, help="A few seconds, rougher figures.")
@click.option("--readme", is_flag=True, help="Put the table into the README as well.")
def main(quick: bool, readme: bool) -> None:
    """Measure gradspec beside NumPy by hand and PyTorch (where it is installed)."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    if machine.is_busy():
        console.print("Other programs are at work on this machine: the figures will say little.\n")
    torch = _torch()
    if torch is None:
        console.print("PyTorch is not installed; `make oracle` installs it for the comparison.\n")
    rows = []
    for case in track(CASES, "measuring", console=console, transient=True):
        workloads = _workloads(case, torch)
        check_agreement(workloads)
        rows.append(Row(case.name, case.doc, measure(workloads, QUICK if quick else THOROUGH)))
    print_table(rows, console)
    facts = machine.describe()
    console.print(", ".join(f"{name} {fact}" for name, fact in facts.items()), highlight=False)
    RESULTS.mkdir(exist_ok=True)
    write_json(rows, facts, RESULTS / "results.json")
    write_plot(rows, facts, RESULTS / "results.png")
    if readme:
        put_into(README, markdown(rows, facts))
    console.print(f"Written: {RESULTS / 'results.json'}, {RESULTS / 'results.png'}")


def put_into(document: Path, table: str) -> None:
    """Replace what stands between the document's marks."""
    before, _, rest = document.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    document.write_text(f"{before}{BEGIN}\n{table}{END}{after}", encoding="utf-8")


def _torch() -> Any:
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    return torch


def _workloads(case: Case, torch: Any) -> dict[str, Workload]:
    """PyTorch takes part once for each number of threads: for small arrays one is often better."""
    workloads = {"gradspec": case.by_library(gradspec)}
    for threads in PYTORCH_THREADS if torch is not None else ():
        workloads[pytorch(threads)] = _with_threads(torch, threads, case.by_library(torch))
    workloads[BY_HAND] = case.by_hand()
    return workloads


def _with_threads(torch: Any, threads: int, workload: Workload) -> Workload:
    def run() -> Sequence[Array]:
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        return workload()

    return run


if __name__ == "__main__":
    main()

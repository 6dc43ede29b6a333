"""Measure everything, print a table, and leave the figures in benchmarks/results/."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import click
import gradspec
import gradspec.nn.functional
from rich.console import Console
from rich.progress import track

from . import machine
from .cases import CASES, Case, Workload
from .measure import QUICK, THOROUGH, check_agreement, measure
from .report import Row, print_table, write_json, write_plot

RESULTS = Path(__file__).parent / "results"
THREADS = 2


@click.command()
@click.option("--quick", is_flag=True, help="A few seconds, rougher figures.")
def main(quick: bool) -> None:
    """Measure gradspec beside NumPy by hand and PyTorch (where it is installed)."""
    console = Console()
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
    console.print(f"Written: {RESULTS / 'results.json'}, {RESULTS / 'results.png'}")


def _torch() -> Any:
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    torch.set_num_threads(THREADS)
    return torch


def _workloads(case: Case, torch: Any) -> dict[str, Workload]:
    workloads = {"gradspec": case.by_library(gradspec)}
    if torch is not None:
        workloads["PyTorch"] = case.by_library(torch)
    workloads["NumPy by hand"] = case.by_hand()
    return workloads


if __name__ == "__main__":
    main()

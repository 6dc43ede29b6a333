"""Sweeps in worker processes, which have imported the package to be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..prove.workers import import_once
from ..render.to_sympy import NotSymbolic
from ..spec.model import Table
from .subjects import Subject
from .sweep import Swept, sweep


@dataclass(frozen=True, slots=True)
class Task:
    """An op to be swept, the ops that it calls, and which points to take."""

    subject: Subject
    table: Table
    thin: int = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a sweep, or why there is none."""

    subject: Subject
    swept: tuple[Swept, ...] = ()
    problem: str = ""


def sweep_in_worker(task: Task, staged: Path, package: str, run: str) -> Answer:
    """Sweep one op in a worker; the package is imported with the first."""
    if problem := import_once(staged, package, run):
        return Answer(task.subject, problem=problem)
    try:
        return Answer(task.subject, tuple(sweep(task.subject, task.table, thin=task.thin)))
    except NotSymbolic as reason:
        return Answer(task.subject, problem=str(reason))


def crashed_sweep(task: Task, reason: str) -> Answer:
    """The answer for an op whose sweep ended its worker."""
    return Answer(task.subject, problem=f"the sweep {reason}")

"""Sweeps in worker processes, which have imported the package to be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..prove.deadline import TimeUp, time_limit
from ..prove.workers import import_once
from ..render.to_sympy import NotSymbolic
from ..spec.model import Table
from .subjects import Subject
from .sweep import Swept, sweep, try_all

SECONDS = 60.0
"""The time for one op."""


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
        with time_limit(SECONDS):
            return Answer(task.subject, tuple(sweep(task.subject, task.table, thin=task.thin)))
    except NotSymbolic as reason:
        return Answer(task.subject, problem=str(reason))
    except TimeUp:
        return Answer(task.subject, problem=f"given up after {SECONDS:.0f} s")


def crashed_sweep(task: Task, reason: str) -> Answer:
    """The answer for an op whose sweep ended its worker."""
    return Answer(task.subject, problem=f"the sweep {reason}")


@dataclass(frozen=True, slots=True)
class Trial:
    """An op, and others that are to compute the same with fewer digits lost."""

    subject: Subject
    candidates: tuple[Subject, ...]
    table: Table
    thin: int = 1


WORTHLESS = 10**9
"""The number of lost points of a candidate that cannot be called."""


def try_in_worker(trial: Trial, staged: Path, package: str, run: str) -> tuple[int, ...]:
    """The number of points at which each candidate loses digits."""
    if import_once(staged, package, run):
        return (WORTHLESS,) * len(trial.candidates)
    try:
        with time_limit(SECONDS):
            return tuple(try_all(trial.subject, trial.candidates, trial.table, thin=trial.thin))
    except (NotSymbolic, TimeUp):
        return (WORTHLESS,) * len(trial.candidates)


def crashed_trial(trial: Trial, reason: str) -> tuple[int, ...]:
    """The answer where a candidate ended the worker."""
    return (WORTHLESS,) * len(trial.candidates)

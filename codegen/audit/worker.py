"""Exact answers in worker processes, which have imported gradspec as it was generated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..lint.subjects import Subject
from ..prove.deadline import TimeUp, time_limit
from ..prove.workers import import_once
from ..render.to_sympy import NotSymbolic
from ..spec.model import OpSpec, Table
from .questions import Asked, Question
from .reference import Disagreement, questions_of
from .sweeps import sweeps_of

SECONDS = 90.0
"""The time for one op."""


@dataclass(frozen=True, slots=True)
class Task:
    """An op, and the ops that it calls if it is swept."""

    op: OpSpec
    subjects: tuple[Subject, ...]
    table: Table
    thin: int


def ask_in_worker(task: Task, staged: Path, package: str, run: str) -> Asked:
    """Answer everything about one op exactly."""
    if problem := import_once(staged, package, run):
        return Asked(task.op.name, problems=(problem,))
    return ask(task)


def ask(task: Task) -> Asked:
    """Answer everything about one op exactly; the time for it is limited."""
    questions: list[Question] = []
    sweeps = []
    problems: list[str] = []
    disagreements: list[str] = []
    try:
        with time_limit(SECONDS):
            for subject in task.subjects:
                try:
                    sweeps += list(sweeps_of(subject, task.table, task.thin))
                except NotSymbolic as reason:
                    problems.append(f"not swept: {reason}")
            for found in questions_of(task.op, complex_only=bool(sweeps)):
                if isinstance(found, Question):
                    questions.append(found)
                elif isinstance(found, Disagreement):
                    disagreements.append(found)
                else:
                    problems.append(found)
    except TimeUp:
        problems.append(f"given up after {SECONDS:.0f} s")
    except Exception as error:
        problems.append(f"{type(error).__name__}: {error}")
    return Asked(
        task.op.name, tuple(questions), tuple(sweeps), tuple(problems), tuple(disagreements)
    )


def crashed(task: Task, reason: str) -> Asked:
    """The answer for an op that ended its worker."""
    return Asked(task.op.name, problems=(f"the op {reason}",))

"""One run of the linter: plan, stage, sweep in workers, and try rewritten formulas."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..authoring.explanation import find_ops, suggestion
from ..certification import UnknownOp
from ..emit.write import staged
from ..mutate.acceptable import generator_check
from ..pipeline import Plan, plan
from ..prove.workers import LocalPool, prove_ops
from ..scratch import staged_beside
from ..spec.model import OpSpec
from ..target import Target
from .candidates import Candidate, candidates_of
from .findings import Advice, Finding, findings_of
from .subjects import Subject, reachable, subjects
from .sweep import Swept
from .worker import (
    Answer,
    Task,
    Trial,
    crashed_sweep,
    crashed_trial,
    sweep_in_worker,
    try_in_worker,
)


@dataclass(frozen=True, slots=True)
class Linted:
    """The outcome of a run."""

    findings: tuple[Finding, ...]
    swept: tuple[Swept, ...]
    skipped: tuple[tuple[str, str], ...]
    """`(op, why it was not swept)`"""
    unused: tuple[tuple[OpSpec, str], ...]
    """Conditions under `accuracy` that excused nothing: what they accept has been mended."""


def lint(
    target: Target,
    names: Sequence[str] = (),
    *,
    jobs: int = 1,
    thin: int = 1,
    rewrite: bool = True,
    begin: Callable[[int], None] = lambda count: None,
    progress: Callable[[str], None] = lambda label: None,
) -> Linted:
    """Sweep the elementwise ops of a spec, or those that go by some names.

    Raises SpecError for mistakes in the spec, UnknownOp for a name without an op.
    """
    planned = plan(target)
    chosen = _named(planned, names)
    asked = [s for s in subjects(planned.table, planned.everything) if s.op.name in chosen]
    begin(len(asked))
    tasks = [Task(s, reachable(s.op, planned.everything), thin) for s in asked]
    answers: dict[int, Answer] = {}
    with staged(planned.built.files, planned.verbatim) as staging:
        pool = LocalPool(staging, target.staged_as, jobs)
        for number, answer in pool.each(sweep_in_worker, tasks, crashed_sweep):
            # The op as it was sent: what has been pickled is no longer the loader's.
            answers[number] = dataclasses.replace(answer, subject=asked[number])
            progress(answer.subject.label)
    found = [answers[number] for number in range(len(tasks))]
    advice = _advice(found, planned, target, thin) if rewrite else {}
    return Linted(
        tuple(
            finding
            for answer in found
            for finding in findings_of(
                answer.subject, answer.swept, advice.get(answer.subject.label)
            )
        ),
        tuple(each for answer in found for each in answer.swept),
        tuple((a.subject.label, a.problem) for a in found if a.problem),
        _unused(found),
    )


def _named(planned: Plan, names: Sequence[str]) -> set[str]:
    if not names:
        return {op.name for op in planned.table.ops}
    found: set[str] = set()
    for name in names:
        ops = find_ops(planned.table, name, planned.everything)
        if not ops:
            raise UnknownOp(name, suggestion(planned.table, name))
        found |= {op.name for op in ops}
    return found


def _unused(answers: Sequence[Answer]) -> tuple[tuple[OpSpec, str], ...]:
    """The conditions that excused no point of any sweep of their op."""
    used = {(s.op, text) for a in answers for s in a.swept for text, _ in s.excused}
    ops = {a.subject.op.name: a.subject.op for a in answers if a.swept}
    return tuple(
        (op, condition.text)
        for op in ops.values()
        for condition, _ in op.accuracy
        if (op.name, condition.text) not in used
    )


def _advice(
    answers: Sequence[Answer], planned: Plan, target: Target, thin: int
) -> dict[str, Advice]:
    """For each op with findings the rewritten formulas that lose least, if they are proved."""
    allows = generator_check(planned.everything)
    trials: dict[str, tuple[Answer, list[Candidate]]] = {}
    for answer in answers:
        if any(each.lost for each in answer.swept):
            found = candidates_of(answer.subject.op, planned.everything)
            offered = [candidate for candidate in found if allows(candidate.op)]
            if offered:
                trials[answer.subject.op.name] = (answer, offered)
    if not trials:
        return {}
    ops = [candidate.op for _, offered in trials.values() for candidate in offered]
    with staged_beside(
        ops, planned.table, target.staged_as, planned.base, planned.kernels
    ) as staging:
        counts = _tried(trials, planned, staging, target, thin)
        advice: dict[str, Advice] = {}
        for name, (answer, offered) in trials.items():
            before = sum(each.count for each in answer.swept)
            best = _first_proved(offered, counts[name], before, staging, target)
            if best is not None:
                candidate, after, status = best
                rules = tuple(f"{rule.text} ({rule.source})" for rule in candidate.rules)
                advice[answer.subject.label] = Advice(
                    candidate.formulas, rules, before, after, status
                )
    return advice


def _tried(
    trials: dict[str, tuple[Answer, list[Candidate]]],
    planned: Plan,
    staging: Path,
    target: Target,
    thin: int,
) -> dict[str, tuple[int, ...]]:
    """The number of points at which each candidate loses digits, by op."""
    tasks = [
        Trial(
            answer.subject,
            tuple(Subject(c.op, answer.subject.settings) for c in offered),
            reachable(answer.subject.op, planned.everything),
            thin,
        )
        for answer, offered in trials.values()
    ]
    pool = LocalPool(staging, target.staged_as, 1)
    counts = dict(pool.each(try_in_worker, tasks, crashed_trial))
    return {name: counts[number] for number, name in enumerate(trials)}


def _first_proved(
    offered: Sequence[Candidate],
    counts: Sequence[int],
    before: int,
    staging: Path,
    target: Target,
) -> tuple[Candidate, int, str] | None:
    """The candidate that loses least, of those that are proved; None if none is better."""
    better = [(n, len(c.formulas), c) for n, c in zip(counts, offered, strict=True) if n < before]
    for count, _, candidate in sorted(better, key=lambda each: each[:2]):
        (verdict,) = prove_ops([candidate.op], staging, target.staged_as, jobs=1)
        if verdict.holds:
            return candidate, count, str(verdict.status)
    return None

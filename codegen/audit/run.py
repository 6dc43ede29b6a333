"""One audit: exact answers in the workers of a proof, a library's in other processes."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed

from ..authoring.explanation import find_ops, suggestion
from ..certification import UnknownOp
from ..emit.write import staged
from ..lint.subjects import Subject, reachable, subjects
from ..pipeline import Plan, plan
from ..prove.workers import LocalPool
from ..spec.model import OpSpec, Table
from ..target import Target
from .findings import Finding, Suspicion
from .grading import Grade
from .judge import Judged, judge
from .libraries import Library, library
from .published import Published, is_wrong_still, published_of, reproduced, with_issues
from .questions import Asked
from .session import Session
from .worker import Task, ask_in_worker, crashed


@dataclass(frozen=True, slots=True)
class Audited:
    """Result of an audit."""

    library: Library
    version: str
    findings: tuple[Finding, ...]
    shared: tuple[Finding, ...]
    """Conventions that gradspec has as well."""
    unconfirmed: tuple[Suspicion, ...]
    functions: tuple[str, ...]
    """The functions of the library that were asked."""
    answers: int
    """The number of derivatives that were compared."""
    problems: tuple[tuple[str, str], ...]
    """`(op, why some of its questions could not be asked)`"""
    raised: Counter[str]
    own: tuple[tuple[str, str], ...]
    """Contradictions of gradspec with itself."""
    published: tuple[tuple[Published, float | None], ...]
    """Reports, with what their programs print here."""

    @property
    def has_structural(self) -> bool:
        """Return whether a formula of the library is wrong."""
        return any(finding.grade is Grade.STRUCTURAL for finding in self.findings)

    def finds(self, report: Published) -> bool:
        """Return whether the audit found the reported mistake again."""
        return any(report.is_found_by(each) for each in (*self.findings, *self.shared))

    def to_json(self) -> dict[str, Any]:
        """Return the audit as data for JSON."""
        return {
            "library": self.library.name,
            "version": self.version,
            "functions": list(self.functions),
            "answers": self.answers,
            "findings": [finding.to_json() for finding in self.findings],
            "shared_conventions": [finding.to_json() for finding in self.shared],
            "not_asked": [list(pair) for pair in self.problems],
            "raised": dict(self.raised),
            "unconfirmed": [
                {
                    "op": each.op,
                    "mode": each.mode,
                    "where": each.where,
                    "function": each.body,
                    "found": repr(each.found),
                    "exact": repr(each.exact),
                    "by_differences": repr(each.by_differences),
                }
                for each in self.unconfirmed
            ],
            "own_disagreements": [list(pair) for pair in self.own],
            "published": [
                {
                    "issue": each.issue,
                    "title": each.title,
                    "printed": repr(answer),
                    "exact": repr(each.exact),
                    "still_wrong": is_wrong_still(each, answer),
                    "found": self.finds(each),
                }
                for each, answer in self.published
            ],
        }


def audit(
    target: Target,
    name: str,
    names: Sequence[str] = (),
    *,
    jobs: int = 1,
    thin: int = 1,
    begin: Callable[[int], None] = lambda count: None,
    progress: Callable[[str], None] = lambda label: None,
) -> Audited:
    """Audit a library that is installed, with every op of a table or those of some names.

    Raises UnknownOp for a name without an op.
    """
    known = library(name)
    planned = plan(target)
    ops = [op for op in _chosen(planned, names) if _is_in(known, op)]
    begin(2 * len(ops) + sum(op.name in known.also for op in ops))
    judged = list(_judged(planned, target, known, ops, jobs, thin, progress))
    return result_of(known, judged, published_of(name) if not names else [])


def result_of(known: Library, judged: Sequence[Judged], reported: list[Published]) -> Audited:
    """Merge what came of all ops, and compare it with what was reported."""
    raised: Counter[str] = Counter()
    for each in judged:
        raised.update(each.raised)
    refused = {name.partition(" VJP:")[0] for name in raised if " VJP:" in name}
    found = [_without_rule(finding, refused) for each in judged for finding in each.findings]
    merged = merge(f for f in found if not f.is_shared)
    return Audited(
        known,
        known.version.partition("+")[0],
        tuple(with_issues(finding, published_of(known.name)) for finding in merged),
        tuple(merge(f for f in found if f.is_shared)),
        tuple(suspicion for each in judged for suspicion in each.unconfirmed),
        tuple(sorted({function for each in judged for function in each.functions})),
        sum(each.answers for each in judged),
        tuple((each.op, problem) for each in judged for problem in each.problems),
        raised,
        tuple((each.op, text) for each in judged for text in each.own),
        tuple(_reproduced(reported)),
    )


def _chosen(planned: Plan, names: Sequence[str]) -> list[OpSpec]:
    if not names:
        return list(planned.table.ops)
    found: dict[str, OpSpec] = {}
    for name in names:
        ops = find_ops(planned.table, name, planned.everything)
        if not ops:
            raise UnknownOp(name, suggestion(planned.table, name))
        found |= {op.name: op for op in ops}
    return list(found.values())


def _is_in(known: Library, op: OpSpec) -> bool:
    """Return whether a library may have an op that has a derivative."""
    return known.has(op) and (op.composite is not None or bool(op.differentiable_params))


def _judged(
    planned: Plan,
    target: Target,
    known: Library,
    ops: Sequence[OpSpec],
    jobs: int,
    thin: int,
    progress: Callable[[str], None],
) -> Iterator[Judged]:
    everything = planned.everything
    swept: dict[str, list[Subject]] = {}
    for subject in subjects(Table(tuple(ops)), everything):
        swept.setdefault(subject.op.name, []).append(subject)
    tasks = [Task(op, tuple(swept.get(op.name, ())), reachable(op, everything), thin) for op in ops]
    asked: dict[int, Asked] = {}
    with staged(planned.built.files, planned.verbatim) as staging:
        pool = LocalPool(staging, target.staged_as, jobs)
        for number, answer in pool.each(ask_in_worker, tasks, crashed):
            asked[number] = answer
            progress(f"{answer.op}: {len(answer.questions)} questions")
    work = [
        delayed(judge_in_worker)(known.name, op, asked[n], others)
        for others in (False, True)
        for n, op in enumerate(ops)
        if not others or op.name in known.also
    ]
    for judged in Parallel(n_jobs=jobs, return_as="generator_unordered")(work):
        progress(f"{judged.op}: {len(judged.findings)} findings")
        yield judged


def _without_rule(finding: Finding, refused: Collection[str]) -> Finding:
    """Tell a function without a derivative from one with a wrong one."""
    if finding.function in refused and finding.found == 0 and "JVP" in finding.modes:
        return dataclasses.replace(finding, grade=Grade.MISSING)
    return finding


def _reproduced(reported: Sequence[Published]) -> list[tuple[Published, float | None]]:
    answers = Parallel(n_jobs=1)(delayed(reproduced)(each) for each in reported)
    return list(zip(reported, answers, strict=True))


_sessions: dict[tuple[str, bool], Session] = {}


def judge_in_worker(name: str, op: OpSpec, asked: Asked, others: bool) -> Judged:
    """Judge one op, or the `others` of a library that do the same as its function."""
    if (name, others) not in _sessions:
        known = library(name).with_others() if others else library(name)
        assert known is not None
        _sessions[name, others] = Session(known)
    return judge(_sessions[name, others], op, asked)


def merge(findings: Iterator[Finding]) -> Iterator[Finding]:
    """One finding for each function and grade: overloads of gradspec are one of a library."""
    groups: dict[tuple[Grade, str], list[Finding]] = {}
    for each in findings:
        groups.setdefault((each.grade, each.function), []).append(each)
    order = list(Grade)
    for key in sorted(groups, key=lambda k: (order.index(k[0]), k[1])):
        yield joined(groups[key])


def joined(group: Sequence[Finding]) -> Finding:
    """The shortest program of some findings, for the modes and answers of all."""
    best = min(group, key=lambda each: len(each.program))
    modes = dict.fromkeys(mode for each in group for mode in each.modes)
    return dataclasses.replace(best, modes=tuple(modes), count=sum(each.count for each in group))

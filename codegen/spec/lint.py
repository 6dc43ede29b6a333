"""Mistakes of authors: every check of an entry, and of the table as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from ..diagnostics import Report, Span
from ..ir.walk import calls
from .copies import with_copies
from .entry import Entry
from .metadata import check_metadata
from .model import OpSpec, Table
from .own_kernels import OwnKernels
from .requirements import check_requirements
from .rules import check_rules
from .scope import Functions, check_formulas


def lint(
    entries: Sequence[Entry],
    unreadable: Iterable[str],
    base: Table | None,
    report: Report,
    kernels: OwnKernels | None = None,
) -> None:
    """Check all entries of a run; `unreadable` are the ops whose signatures are broken."""
    others = () if base is None else base.ops
    functions = Functions(
        (*others, *with_copies(entry.op for entry in entries)), unreadable, kernels
    )
    for entry in entries:
        check_rules(entry, report)
        check_metadata(entry, report)
        check_requirements(entry, report)
        check_formulas(entry, functions, report)
    _check_unique(entries, others, report)
    _check_circles(entries, report)


def _check_unique(entries: Sequence[Entry], others: Iterable[OpSpec], report: Report) -> None:
    """No op twice, and no alias or operator that means two different ops."""
    ops = {op.name: op.span for op in others}
    meanings: dict[str, tuple[str, Span]] = {}
    theirs = {op.signature.name: op.span for op in others}
    for op in (*others, *(entry.op for entry in entries)):
        meanings.setdefault(op.signature.name, (op.signature.name, op.span))
    for entry in entries:
        op = entry.op
        first = ops.setdefault(op.name, op.span)
        if first is not op.span:
            help = f"the first is at {first}: rename one, or give it an overload name"
            report.error("GS050", op.span, f"`{op.name}` is in the table already", help)
        elif op.signature.name in theirs:
            help = "its overloads are chosen there: take another name"
            message = f"`{op.signature.name}` is an op of gradspec itself"
            report.error("GS050", op.span, message, help)
        if op.copy_doc and f"{op.signature.name}_copy" in meanings:
            message = f"`{op.signature.name}_copy` is in the table already"
            report.error("GS050", entry.key_span("copy_doc"), message, "leave out `copy_doc`")
        for word, place in (*entry.words("aliases"), *entry.words("operators")):
            owner, where = meanings.setdefault(word, (op.signature.name, op.span))
            if owner != op.signature.name:
                message = f"`{word}` means `{owner}` already"
                report.error("GS050", place, message, f"`{owner}` is at {where}")


def _check_circles(entries: Sequence[Entry], report: Report) -> None:
    """No definition may come back to itself; overloads may call each other, as their types tell."""
    counts = Counter(entry.op.signature.name for entry in entries)
    single = {entry.op.signature.name: entry for entry in entries}
    single = {name: entry for name, entry in single.items() if counts[name] == 1}
    called = {name: _called(entry.op) & single.keys() for name, entry in single.items()}
    while circle := _circle(called):
        for place, name in enumerate(circle):
            entry = single[name]
            key = "forward" if entry.op.forward is not None else "composite"
            steps = [*circle[place:], *circle[:place], name]
            way = " calls ".join(f"`{step}`" for step in steps)
            help = "a definition ends in primitives: `np.`, `sp.` or `kernels.`"
            report.error("GS039", entry.key_span(key), f"a definition in a circle: {way}", help)
            del called[name]


def _called(op: OpSpec) -> set[str]:
    definition = op.definition
    return set() if definition is None else {call.function for call in calls(definition.block)}


def _circle(called: Mapping[str, set[str]]) -> list[str]:
    """Ops each of which calls the next, and the last the first; empty if there are none."""
    try:
        TopologicalSorter(called).prepare()
    except CycleError as error:
        backwards: list[str] = error.args[1][1:]
        return backwards[::-1]
    return []

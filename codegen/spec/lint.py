"""Mistakes of authors: every check of an entry, and of the table as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..diagnostics import Report, Span
from .entry import Entry
from .metadata import check_metadata
from .model import OpSpec, Table
from .rules import check_rules
from .scope import Functions, check_formulas


def lint(
    entries: Sequence[Entry], unreadable: Iterable[str], base: Table | None, report: Report
) -> None:
    """Check all entries of a run; `unreadable` are the ops whose signatures are broken."""
    others = () if base is None else base.ops
    functions = Functions((*others, *(entry.op for entry in entries)), unreadable)
    for entry in entries:
        check_rules(entry, report)
        check_metadata(entry, report)
        check_formulas(entry, functions, report)
    _check_unique(entries, others, report)


def _check_unique(entries: Sequence[Entry], others: Iterable[OpSpec], report: Report) -> None:
    """No op twice, and no alias or operator that means two different ops."""
    ops = {op.name: op.span for op in others}
    meanings: dict[str, tuple[str, Span]] = {}
    for op in (*others, *(entry.op for entry in entries)):
        meanings.setdefault(op.signature.name, (op.signature.name, op.span))
    for entry in entries:
        op = entry.op
        first = ops.setdefault(op.name, op.span)
        if first is not op.span:
            help = f"the first is at {first}: rename one, or give it an overload name"
            report.error("GS050", op.span, f"`{op.name}` is in the table already", help)
        for word, place in (*entry.words("aliases"), *entry.words("operators")):
            owner, where = meanings.setdefault(word, (op.signature.name, op.span))
            if owner != op.signature.name:
                message = f"`{word}` means `{owner}` already"
                report.error("GS050", place, message, f"`{owner}` is at {where}")

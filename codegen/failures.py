"""Refuted formulas as an author reads them: each cause once, at the formula it is about."""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

from .diagnostics import Diagnostic, SpecError
from .emit.package import GeneratedPackage
from .prove.report.verdict import OpVerdict, explain
from .spec.model import OpSpec

Failures: TypeAlias = list[tuple[OpSpec, OpVerdict]]


def refutations(failures: Failures) -> SpecError:
    """The refutations as diagnostics at the formulas they are about.

    Ops that fail for one and the same reason, such as a broken runtime, are told once.
    """
    alike: dict[object, list[str]] = {}
    told: dict[object, list[Diagnostic]] = {}
    for op, verdict in failures:
        reason: object = verdict.counterexample or verdict.notes
        if reason in told:
            alike.setdefault(reason, []).append(op.name)
        else:
            told[reason] = explain(verdict, op)
    for reason, names in alike.items():
        others = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        note = f"{len(names)} more fail in the same way: {others}"
        told[reason] = [dataclasses.replace(d, help=note) for d in told[reason]]
    return SpecError([diagnostic for found in told.values() for diagnostic in found])


def causes(failures: Failures, built: GeneratedPackage) -> Failures:
    """The failures without those that only pass on a failure of an op they call.

    With a wrong `sin`, `cos` is wrong too, but only where its formula is differentiated again.
    """
    failed = {op.name for op, _ in failures}
    own = [
        (op, verdict)
        for op, verdict in failures
        if not (
            verdict.counterexample is not None
            and verdict.counterexample.label.startswith("double backward")
            and built.ops[op.name].calls & (failed - {op.name})
        )
    ]
    return own or failures

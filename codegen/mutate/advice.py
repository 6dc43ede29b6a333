"""Refutations that teach: the small change that makes a formula right, and sympy's derivative."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ..diagnostics import SpecError
from ..failures import refutations
from ..ir.walk import measure
from ..pipeline import Plan, ProofFailure
from ..prove.report.verdict import OpVerdict
from ..scratch import staged_beside
from ..spec.model import AutoElementwise, Formula, OpSpec, Table
from .acceptable import those_generated
from .mutants import Mutant, variants_of_formula
from .pitfalls import pitfall
from .restorations import repairs

REPAIR_SECONDS = 6.0
"""The computing time for trying repairs of one formula."""

DERIVATIVE_SECONDS = 2.0
"""The computing time for sympy's own derivative of one formula."""

MOST_FAILURES = 3
"""After a change to many formulas the first few are enough to learn from."""

_MOST_VERSIONS = 400

_MOST_NODES = 4_000
"""Nodes of all versions of a formula: to render them takes as long as to try them."""


def advised(failure: ProofFailure, package: str) -> SpecError:
    """The refutations as diagnostics, with a guess at the mistake where one is found."""
    failures = [
        (op, _with_advice(op, verdict, failure, package) if place < MOST_FAILURES else verdict)
        for place, (op, verdict) in enumerate(failure.failures)
    ]
    return refutations(failures)


def unadvised(failure: ProofFailure) -> SpecError:
    """The refutations as diagnostics, without what takes seconds to find."""
    return refutations(
        [
            (op, _without_help(verdict) if place < MOST_FAILURES else verdict)
            for place, (op, verdict) in enumerate(failure.failures)
        ]
    )


def helps(failure: ProofFailure, package: str) -> Iterator[tuple[str, str]]:
    """Advise on each of the first failures, with the op that it is about."""
    for op, verdict in failure.failures[:MOST_FAILURES]:
        found = _with_advice(op, verdict, failure, package).counterexample
        if found is not None and found.suggestion:
            yield op.name, found.suggestion


def _without_help(verdict: OpVerdict) -> OpVerdict:
    found = verdict.counterexample
    if found is None:
        return verdict
    return dataclasses.replace(verdict, counterexample=dataclasses.replace(found, suggestion=""))


def _with_advice(op: OpSpec, verdict: OpVerdict, failure: ProofFailure, package: str) -> OpVerdict:
    found = verdict.counterexample
    if found is None or op.forward is None:
        return verdict
    usual = pitfall(op, found)
    if usual:
        return dataclasses.replace(
            verdict, counterexample=dataclasses.replace(found, suggestion=usual)
        )
    everything = failure.planned.everything
    keys = _formulas_behind(op, found.key)
    words = []
    written = [key for key in keys if not _is_derived(op, key)]
    # A formula that is right and rounds badly looks right with any change that hides it.
    is_rounding = found.label.endswith("in single precision")
    repair = None if is_rounding else _repair(op, written, failure, package)
    if repair is not None:
        words.append(f"did you mean `{repair.text}`? ({repair.kind})")
    derivatives = [
        f"sympy's derivative by `{key}` is `{text}`"
        for key in keys
        if (text := derivative_text(op, key, everything)) and not _is_text_of(repair, text)
    ]
    words += derivatives
    if not written and keys != ["forward"]:
        words.append("the rule was derived from `forward`: write that another way, or the rule")
    suggestion = found.suggestion
    if derivatives and suggestion.startswith("sympy's derivative"):  # the same, of one element
        suggestion = suggestion.partition("; ")[2]
    if repair is None and suggestion:
        words.append(suggestion)
    if not words:
        return verdict
    return dataclasses.replace(
        verdict, counterexample=dataclasses.replace(found, suggestion="; ".join(words))
    )


def _repair(op: OpSpec, keys: list[str], failure: ProofFailure, package: str) -> Mutant | None:
    try:
        return find_repair(op, keys, failure.planned, package)
    except Exception:
        return None  # the refutation is what matters: nothing may come in its way


def _is_derived(op: OpSpec, key: str) -> bool:
    """Return whether the rule of an argument or output is none that the author wrote."""
    rule = op.rule(key) or dict(op.jvps).get(key)
    return isinstance(rule, AutoElementwise) or (isinstance(rule, Formula) and rule.is_derived)


def _is_text_of(repair: Mutant | None, text: str) -> bool:
    return repair is not None and repair.text == text


def _formulas_behind(op: OpSpec, key: str) -> list[str]:
    """The formulas that may be at fault: a JVP can be made of VJPs."""
    if key == "kernel":
        return ["forward", "kernel"]
    rules = [rule for name, rule in op.jvps if name == key]
    if rules and isinstance(rules[0], AutoElementwise):
        return list(op.differentiable_params)
    return [key]


def find_repair(op: OpSpec, keys: list[str], planned: Plan, package: str) -> Mutant | None:
    """The shortest single change to one formula that makes the whole op prove, if there is one."""
    from ..prove.workers import first_that_holds  # joblib

    everything = planned.everything
    versions = [
        mutant for key in keys for mutant in variants_of_formula(op, everything, key, repairs)
    ]
    versions.sort(key=lambda version: len(version.text))
    rules = [rule for key in keys if isinstance(rule := op.rule(key), Formula)]
    nodes = sum(measure(rule.block)[0] for rule in rules)
    most = min(_MOST_VERSIONS, _MOST_NODES // max(nodes, 1))
    versions = those_generated(versions[:most], everything)
    ops = [version.op for version in versions]
    if not ops:
        return None
    with staged_beside(ops, planned.table, package, planned.base, planned.kernels) as staging:
        name = first_that_holds(op, ops, staging, package, seconds=REPAIR_SECONDS)
    return next((version for version in versions if version.op.name == name), None)


def derivative_text(op: OpSpec, key: str, table: Table) -> str:
    """sympy's own derivative in the formula language; empty where it has none to offer."""
    from ..prove.deadline import TimeUp, time_limit
    from ..prove.report.derive import derive_vjp  # sympy

    if not isinstance(op.rule(key), Formula):
        return ""
    try:
        with time_limit(DERIVATIVE_SECONDS):
            return derive_vjp(op, table, key)
    except (SpecError, TimeUp):
        return ""

"""Ops with formulas rewritten by the table, to be tried in the place of one that loses digits."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..diagnostics import SpecError
from ..differentiate.derive import derive_vjp
from ..differentiate.terms import NoDerivative
from ..ir import nodes as ir
from ..ir.parse import parse
from ..ir.parts import parts_of, with_parts
from ..ir.walk import substitute
from ..mutate.mutants import renamed
from ..render.to_text import formula_text
from ..spec.model import Formula, OpSpec, Table
from .rewrites import Rewrite, rewrites, rewritten

_MOST_STEPS: Final = 8
_MOST_OF_A_FORMULA: Final = 6

FORWARD: Final = "forward"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An op with one or more formulas rewritten, under a name of its own."""

    op: OpSpec
    formulas: tuple[tuple[str, str], ...]
    """`(forward, or the argument or output that the rule is for; the new formula)`"""
    rules: tuple[Rewrite, ...]


@dataclass(frozen=True, slots=True)
class _Version:
    """A formula after some rewrites."""

    expr: ir.Expr
    rules: tuple[Rewrite, ...]


def candidates_of(op: OpSpec, table: Table) -> list[Candidate]:
    """Every rewritten formula alone, all of them together, and rules derived anew.

    Those that the generator derived are also derived from the rewritten definition, by the rules of
    the ops that it calls.
    """
    versions = {key: list(_versions(op, rule)) for key, rule in _formulas(op).items()}
    versions = {key: found for key, found in versions.items() if found}
    choices = [{key: version} for key, found in versions.items() for version in found]
    if len(versions) > 1:
        choices.insert(0, {key: found[-1] for key, found in versions.items()})
    for version in versions.get(FORWARD, ()):
        derived = _derived_from(op, version, table)
        if derived:
            choices.append({FORWARD: version, **derived})
    return [_candidate(op, choice, number) for number, choice in enumerate(choices, 1)]


def _derived_from(op: OpSpec, version: _Version, table: Table) -> dict[str, _Version]:
    """The VJPs of a rewritten definition, for those that the generator derived."""
    text = formula_text(version.expr)
    moved = dataclasses.replace(op, forward=_formula(op.forward, text), kernel=None)
    found = {}
    for names, rule in op.vjps:
        if isinstance(rule, Formula) and rule.is_derived:
            try:
                block = derive_vjp(moved, table, names[0])
            except (NoDerivative, SpecError):
                return {}
            expr = None if block is None else written_out(block)
            if expr is not None:
                found[names[0]] = _Version(tidied(expr), ())
    return found


def _formulas(op: OpSpec) -> dict[str, Formula]:
    """The definition and the rules of an op, by what they give."""
    found = {FORWARD: op.forward} if op.forward is not None else {}
    for names, rule in op.vjps:
        if isinstance(rule, Formula) and len(names) == 1:
            found[names[0]] = rule
    for name, tangent in op.jvps:
        if isinstance(tangent, Formula):
            found[name] = tangent
    return found


def _versions(op: OpSpec, rule: Formula) -> Iterator[_Version]:
    """A formula rewritten step by step, and then each single step from the start."""
    given = written_out(rule.block)
    if given is None:
        return
    seen: set[ir.Expr] = set()
    starts = [given]
    whole = None if op.forward is None else written_out(op.forward.block)
    if whole is not None and op.signature.outputs[0].name == "result":
        starts.append(substitute(given, {"result": whole}))
    table = rewrites()
    found: list[_Version] = []
    for start in dict.fromkeys(starts):
        version = _Version(start, ())
        for _ in range(_MOST_STEPS):
            step = next((s for s in rewritten(version.expr, table) if s[0] not in seen), None)
            if step is None:
                break
            seen.add(step[0])
            version = _Version(step[0], (*version.rules, step[1]))
            found.append(version)
        for expr, rewrite in rewritten(start, table):
            if expr not in seen:
                seen.add(expr)
                found.insert(0, _Version(expr, (rewrite,)))
    yield from found[-_MOST_OF_A_FORMULA:]


def written_out(block: ir.Block) -> ir.Expr | None:
    """A formula without assignments as one expression; None if it has branches."""
    known: dict[str, ir.Expr] = {}
    for statement in block.statements:
        match statement:
            case ir.Assign(targets=(name,), value=value):
                known[name] = substitute(value, known)
            case ir.Return(value=value):
                return substitute(value, known)
            case _:
                return None
    return None


def tidied(expr: ir.Expr) -> ir.Expr:
    """An expression without minus in front of a product or quotient that begins with minus."""
    expr = with_parts(expr, {place: tidied(part) for place, part in parts_of(expr).items()})
    match expr:
        case ir.Unary("-", ir.Unary("-", operand)):
            return operand
        case ir.Unary("-", ir.Binary("*" | "/" as op, ir.Unary("-", left), right)):
            return ir.Binary(op, left, right)
    return expr


def _candidate(op: OpSpec, choice: Mapping[str, _Version], number: int) -> Candidate:
    changes: dict[str, Any] = {}
    texts = {key: formula_text(version.expr) for key, version in choice.items()}
    if FORWARD in choice:
        changes["kernel"] = _formula(op.forward, texts[FORWARD])
    changes["vjps"] = tuple(
        (names, _formula(rule, texts[names[0]]) if names[0] in texts else rule)
        for names, rule in op.vjps
    )
    changes["jvps"] = tuple(
        (name, _formula(rule, texts[name]) if name in texts else rule) for name, rule in op.jvps
    )
    rules = dict.fromkeys(rule for version in choice.values() for rule in version.rules)
    changed = renamed(dataclasses.replace(op, **changes), f"r{number}")
    return Candidate(changed, tuple(texts.items()), tuple(rules))


def _formula(rule: Any, text: str) -> Formula:
    return Formula(text, parse(text), (rule.spans[0],) * (len(text) + 1))

"""`auto`: VJPs that sympy derives, put where an author would have written them.

A derivation is remembered in the lock, with a digest of the definitions that it was made of, so
that an unchanged table costs no sympy.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import TypeAlias

from .ir.parse import parse
from .ir.walk import calls
from .spec.model import Auto, Formula, OpSpec, Rule, Table

Derivations: TypeAlias = Mapping[tuple[str, str], str]
"""The formula derived for `(op, argument)`."""


Derived: TypeAlias = tuple[tuple[str, str], ...]
"""`(argument, formula)` for each `auto` of one op."""


def fill_in(table: Table, everything: Table, known: Derivations) -> Table:
    """The table with every `auto` replaced by a formula.

    Raises SpecError where sympy has no derivative to offer.
    """
    return Table(tuple(_fill_in(op, everything, known) for op in table.ops))


def automatic_params(op: OpSpec) -> tuple[str, ...]:
    """The arguments whose VJP is `auto`."""
    return tuple(name for names, rule in op.vjps if isinstance(rule, Auto) for name in names)


def derivation_digest(op: OpSpec, everything: Table, derived: Derived) -> str:
    """Digest formulas and all that they were derived from: what the op and those it calls say."""
    read: dict[str, str] = {}
    stack = [op]
    while stack:
        each = stack.pop()
        definition = each.definition
        if definition is not None and each.name not in read:
            read[each.name] = repr((each.signature, each.domain, definition.text))
            called = {call.function for call in calls(definition.block)}
            stack += (other for name in called for other in everything.overloads(name))
    digest = hashlib.sha256(repr((sorted(read.values()), derived)).encode())
    return f"sha256:{digest.hexdigest()[:32]}"


def _fill_in(op: OpSpec, everything: Table, known: Derivations) -> OpSpec:
    if not automatic_params(op):
        return op
    vjps: list[tuple[tuple[str, ...], Rule]] = []
    for names, rule in op.vjps:
        if isinstance(rule, Auto):
            vjps += [((name,), _derived(op, name, rule, everything, known)) for name in names]
        else:
            vjps.append((names, rule))
    return dataclasses.replace(op, vjps=tuple(vjps))


def _derived(op: OpSpec, param: str, rule: Auto, everything: Table, known: Derivations) -> Formula:
    text = known.get((op.name, param))
    if text is None:
        from .prove.report.derive import derive_vjp  # sympy: only when there is something to derive

        text = derive_vjp(op, everything, param)
    # Every character of the formula stands where the author wrote `auto`.
    return Formula(text, parse(text), (rule.span,) * (len(text) + 1))
